/** @jsxImportSource preact */
import {
  type BucketStatus,
  bucketStatus,
  MAX_COUNTED_EXPORTS,
  type OwnBucket,
  removeBucket,
  sendAgain,
  setBucket,
  testBucket,
} from "../../app/exports/manage-bucket.ts";
import { DEFAULT_KEY_PATTERN, KEY_PLACEHOLDERS } from "../../core/export-key.ts";
import {
  Badge,
  Card,
  Confirm,
  count,
  counted,
  Field,
  Notice,
  PageHead,
  PostForm,
  Time,
} from "../elements.tsx";
import { type Flash, typedInto } from "../flash.ts";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { field, type MemberVisit, member, owner, takeFlash } from "../visit.ts";
import { countSend } from "../webhooks/endpoint-parts.tsx";

const PAGE = "/console/bucket";

function Text({ name, label, hint, value }: { name: string; label: string; hint: string; value: string }) {
  return (
    <Field label={label} id={name} hint={hint}>
      <input
        id={name}
        name={name}
        type="text"
        value={value}
        required
        autocomplete="off"
        aria-describedby={`${name}-hint`}
      />
    </Field>
  );
}

function BucketForm({
  visit,
  bucket,
  flash,
}: {
  visit: MemberVisit;
  bucket: OwnBucket | undefined;
  flash: Flash;
}) {
  const typed = typedInto(PAGE, flash);
  const of = (name: string, known: string) => typed?.get(name) ?? known;
  return (
    <Card
      title={bucket ? "Change it" : "Name a bucket"}
      note="Cards that are finished from then on are put there. Use a key that may write, read and delete there, and nothing else."
    >
      <PostForm visit={visit} action={PAGE} class="form">
        <Text
          name="endpoint"
          label="Address of the storage"
          hint="Such as https://s3.eu-central-1.amazonaws.com, without the bucket."
          value={of("endpoint", bucket?.endpoint ?? "")}
        />
        <Text
          name="region"
          label="Region"
          hint="As your storage names it; most storages of one's own take us-east-1."
          value={of("region", bucket?.region ?? "us-east-1")}
        />
        <Text name="bucket" label="Bucket" hint="Its name." value={of("bucket", bucket?.bucket ?? "")} />
        <Text
          name="key_pattern"
          label="Name of each file"
          hint={`Without its ending. ${KEY_PLACEHOLDERS.map((name) => `{${name}}`).join(", ")} are filled in, as in cards/{date}/{image_id}.`}
          value={of("key_pattern", bucket?.keyPattern ?? DEFAULT_KEY_PATTERN)}
        />
        <Text
          name="access_key_id"
          label="Access key id"
          hint="The public half of the key."
          value={of("access_key_id", bucket?.accessKeyId ?? "")}
        />
        <Field
          label="Secret access key"
          id="secret_access_key"
          hint={
            bucket
              ? "Never shown again. Empty: the one that is kept."
              : "Kept encrypted, and never shown again."
          }
        >
          <input
            id="secret_access_key"
            name="secret_access_key"
            type="password"
            required={!bucket}
            autocomplete="off"
            aria-describedby="secret_access_key-hint"
          />
        </Field>
        <div>
          <button type="submit" class="button button-primary">
            Save and try
          </button>
        </div>
      </PostForm>
    </Card>
  );
}

function State({ visit, status }: { visit: MemberVisit; status: BucketStatus & { bucket: OwnBucket } }) {
  const { bucket, waiting, failed } = status;
  const mayChange = visit.role === "owner";
  return (
    <Card title="How it stands">
      <div class="stack">
        <dl class="facts">
          <dt>Bucket</dt>
          <dd>
            {bucket.bucket}{" "}
            <Badge tone={bucket.lastError ? "bad" : "good"}>{bucket.lastError ? "Failing" : "Works"}</Badge>
          </dd>
          <dt>Address</dt>
          <dd class="long">{bucket.endpoint}</dd>
          <dt>Files</dt>
          <dd class="long">
            <code>{bucket.keyPattern}.png</code>
          </dd>
          <dt>Wait to be put there</dt>
          <dd>{waiting === MAX_COUNTED_EXPORTS ? `${count(waiting)} or more` : counted(waiting, "card")}</dd>
        </dl>
        {bucket.lastError && (
          <Notice tone="bad" title="The last attempt failed.">
            {bucket.lastError} It is tried again by itself.
          </Notice>
        )}
        {mayChange && (
          <div class="actions">
            <PostForm visit={visit} action={`${PAGE}/test`}>
              <button type="submit" class="button">
                Try it now
              </button>
            </PostForm>
            {failed.length > 0 && (
              <PostForm visit={visit} action={`${PAGE}/send-again`}>
                <button type="submit" class="button">
                  Send again what failed
                </button>
              </PostForm>
            )}
            <Confirm
              visit={visit}
              id="remove-bucket"
              action={`${PAGE}/remove`}
              button="Remove"
              title="Put nothing more into this bucket?"
              confirm="Remove it"
              small={false}
            >
              <p>
                What is there stays, and is yours to delete: also the cards of players who are deleted here
                later. Cards that wait are not put there any more.
              </p>
            </Confirm>
          </div>
        )}
      </div>
    </Card>
  );
}

function Failed({ failed }: Pick<BucketStatus, "failed">) {
  if (failed.length === 0) return null;
  return (
    <Card flush title="Given up" note="The latest first.">
      <table class="table">
        <caption class="visually-hidden">Cards that could not be put into the bucket</caption>
        <thead>
          <tr>
            <th scope="col">Card</th>
            <th scope="col">Why</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {failed.map(({ imageId, error, updatedAt }) => (
            <tr key={imageId}>
              <th scope="row">
                <a href={`/console/images/${imageId}`}>{imageId}</a>
              </th>
              <td data-label="Why" class="long">
                {error}
              </td>
              <td data-label="When">
                <Time at={updatedAt} style="relative" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

async function bucketPage(visit: MemberVisit): Promise<Response> {
  const [flash, status] = await Promise.all([takeFlash(visit), bucketStatus(visit.deps, visit.account.id)]);
  const { bucket } = status;
  return shell(
    visit,
    "Your bucket",
    <>
      <PageHead
        title="Your bucket"
        lead={
          <>
            Finished live cards are put into S3-compatible storage of your own too.{" "}
            <a href="/docs/own-bucket">What is put there</a>
          </>
        }
      />
      {bucket && <State visit={visit} status={{ ...status, bucket }} />}
      <Failed failed={status.failed} />
      {visit.role === "owner" ? (
        <BucketForm visit={visit} bucket={bucket} flash={flash} />
      ) : (
        !bucket && (
          <Card>
            <p>No bucket is named. An owner of the account can name one.</p>
          </Card>
        )
      )}
    </>,
    { flash },
  );
}

async function save(visit: MemberVisit): Promise<Response> {
  const { deps, account, user } = visit;
  await countSend(visit);
  await setBucket(
    deps,
    { accountId: account.id, by: user.id },
    {
      endpoint: field(visit, "endpoint"),
      region: field(visit, "region"),
      bucket: field(visit, "bucket"),
      keyPattern: field(visit, "key_pattern"),
      accessKeyId: field(visit, "access_key_id"),
      secretAccessKey: field(visit, "secret_access_key"),
    },
  );
  return tried(
    visit,
    "The bucket is saved, and works: a small file was written, read and deleted.",
    "It is saved.",
  );
}

/** Says what a try found. */
async function tried(visit: MemberVisit, works: string, before = ""): Promise<Response> {
  const { deps, account, session, flashes } = visit;
  const fault = await testBucket(deps, account.id);
  const found = fault === undefined ? { notice: works } : { problem: `${before} ${fault}`.trim() };
  await flashes.put(session.id, found);
  return redirect(PAGE, visit.exchange);
}

async function tryNow(visit: MemberVisit): Promise<Response> {
  await countSend(visit);
  return tried(visit, "The bucket works: a small file was written, read and deleted.");
}

async function again(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session } = visit;
  await countSend(visit);
  const sent = await sendAgain(deps, { accountId: account.id, by: user.id });
  await visit.flashes.put(session.id, { notice: `Sent again: ${counted(sent, "card")}.` });
  return redirect(PAGE, visit.exchange);
}

async function remove(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session } = visit;
  await removeBucket(deps, { accountId: account.id, by: user.id });
  await visit.flashes.put(session.id, { notice: "The bucket is removed. What is in it stays there." });
  return redirect(PAGE, visit.exchange);
}

export const bucketRoutes = [
  member.get(PAGE, bucketPage),
  owner.post(PAGE, save),
  owner.post(`${PAGE}/test`, tryNow),
  owner.post(`${PAGE}/send-again`, again),
  owner.post(`${PAGE}/remove`, remove),
];
