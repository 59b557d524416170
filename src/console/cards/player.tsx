/** @jsxImportSource preact */
import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import { historyOfPlayer } from "../../store/images/image-search.ts";
import type { Image } from "../../store/images/images.ts";
import {
  Breakable,
  Card,
  counted,
  Empty,
  EnvironmentBadge,
  EnvironmentSegments,
  PageHead,
  Time,
} from "../elements.tsx";
import { shell } from "../layout.tsx";
import { type MemberVisit, member } from "../visit.ts";
import { playerName, StatusBadge, Thumb } from "./image-parts.tsx";

/** A player made again each week of two seasons. */
const SHOWN_IMAGES = 100;

function Entry({ image, isCurrent }: { image: Image; isCurrent: boolean }) {
  return (
    <li>
      <a href={`/console/images/${image.id}`} class="tile">
        <Thumb image={image} />
        <span class="tile-name ellipsis">{isCurrent ? "Current card" : playerName(image)}</span>
        <span class="tile-foot">
          <StatusBadge image={image} />
          <Time at={image.createdAt} style="relative" />
        </span>
      </a>
    </li>
  );
}

/** Every card of one player, newest first. */
async function playerPage(visit: MemberVisit): Promise<Response> {
  const { deps, account, query } = visit;
  const externalId = query.get("id") ?? "";
  const environment: Environment = ENVIRONMENTS.find((known) => known === query.get("environment")) ?? "live";
  const scope = { accountId: account.id, environment, externalId, limit: SHOWN_IMAGES };
  const images = await historyOfPlayer(deps.store.read, scope);
  const current = images.find(({ state, purgedAt }) => state === "completed" && purgedAt === null);
  const [newest] = images;
  const name = newest ? playerName(newest) : externalId || "No player";
  const address = (of: Environment) =>
    `/console/players?${new URLSearchParams({ id: externalId, environment: of })}`;
  return shell(
    visit,
    name,
    <>
      <PageHead
        title={name}
        lead={
          <>
            <EnvironmentBadge environment={environment} />{" "}
            <code>
              <Breakable text={externalId} />
            </code>{" "}
            {images.length === SHOWN_IMAGES
              ? `The newest ${SHOWN_IMAGES} cards`
              : counted(images.length, "card")}
          </>
        }
      />
      <div class="toolbar">
        <EnvironmentSegments environment={environment} href={(of) => address(of)} />
      </div>
      {images.length === 0 ? (
        <Card>
          <Empty title="No cards of this player">
            Nothing was made for this external id, or it was deleted.
          </Empty>
        </Card>
      ) : (
        <ul class="grid sheet">
          {images.map((image) => (
            <Entry key={image.id} image={image} isCurrent={image === current} />
          ))}
        </ul>
      )}
    </>,
    { wide: true },
  );
}

export const playerRoutes = [member.get("/console/players", playerPage)];
