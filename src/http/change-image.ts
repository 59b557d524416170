import { Type } from "@sinclair/typebox";
import { imageView } from "../app/images/image-view.ts";
import { changePublication } from "../app/images/publish-images.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { changedPublication, publicationFault } from "../core/publication.ts";
import { compileValidator } from "../core/validate.ts";
import type { Caller } from "./auth.ts";
import { readJson, requireJsonType } from "./body.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import type { ImageRoutesDeps } from "./images.ts";

/** What PATCH /v1/images/{image_id} takes. */
export const ChangeImageRequest = Type.Object(
  {
    publish_at: changedPublication(
      "publishes a finished card at once, and one that is being made when it is made.",
    ),
  },
  {
    additionalProperties: false,
    $id: "ChangeImageRequest",
    description: "What may change of an image: when it is published.",
  },
);

const validator = compileValidator(ChangeImageRequest, "body");

/** PATCH /v1/images/{image_id} */
export async function changeImage(
  deps: ImageRoutesDeps,
  exchange: Exchange,
  { account, environment }: Caller,
  id: string,
): Promise<Response> {
  requireJsonType(exchange.request);
  const checked = validator.check(await readJson(exchange.request));
  if (!checked.ok) throw invalidRequest(checked.details);
  const { publish_at } = checked.value;
  const fault = publish_at === null ? undefined : publicationFault(publish_at);
  if (fault) throw invalidRequest([{ field: "publish_at", message: fault }]);
  const image = await changePublication(deps, { account, environment, id }, { publish_at });
  return success(exchange, imageView(image, { config: deps.config, progress: deps.progress.of(id) }));
}
