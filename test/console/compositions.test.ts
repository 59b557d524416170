import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import {
  declareCompositions,
  imageRequest,
  ownTemplate,
  post,
  type TestAccount,
  type TestFolder,
  type TestServer,
  testAccount,
  testFolder,
  testServer,
} from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

// The console of a service with a template that shows the player in both ways, and one that does in one.

let templates: TestFolder;
let server: TestServer;
let own: TestAccount;
let ana: Client;
beforeAll(async () => {
  templates = testFolder();
  for (const name of ["in_the_photo", "plain"]) await ownTemplate(templates.dir, name);
  await declareCompositions(templates.dir, "in_the_photo", ["photo", "cutout"]);
  await declareCompositions(templates.dir, "plain");
  server = await testServer({
    renders: false,
    env: {
      CARDPRESS_TEMPLATES_DIR: templates.dir,
      CARDPRESS_PRESETS: "in_the_photo,plain",
      CARDPRESS_RENDER_WORKERS: "1",
    },
  });
  own = await testAccount(server.service);
  const user = await testMember(server.service, own.account.id, "ana@both.example");
  ana = await client(server.service, server.baseUrl, user);
});
afterAll(async () => {
  await server.close();
  await templates.remove();
});

/** The options of a select of a page, the chosen one with a star. */
function optionsOf(page: string, name: string): string[] {
  const [, options = ""] = new RegExp(`<select id="${name}"[^>]*>(.*?)</select>`, "s").exec(page) ?? [];
  return [...options.matchAll(/<option([^>]*)>([^<]*)/g)].map(
    ([, attributes, text]) => `${text}${/selected/.test(attributes ?? "") ? "*" : ""}`,
  );
}
const filled = (more: Record<string, string>) => ({
  external_id: "p1",
  name: "Ana",
  position: "ST",
  number: "9",
  skill_level: "80",
  source_image_url: "https://photos.example/p1.jpg",
  environment: "test",
  preset: "in_the_photo",
  ...more,
});
const textOf = async (answer: Promise<Response>) => (await answer).text();

test("the playground offers what the chosen template supports, and its samples ask for what was chosen", async () => {
  expect(optionsOf(await textOf(ana.get("/console/playground")), "composition")).toEqual([
    "Whichever suits the photo*",
    "Within the photo",
    "Player cut out",
  ]);
  const plain = ana.post("/console/playground/fields", filled({ preset: "plain", composition: "cutout" }));
  expect(optionsOf(await textOf(plain), "composition")).toEqual([
    "Whichever suits the photo",
    "Player cut out*",
  ]);
  const samples = (composition: string) =>
    textOf(ana.post("/console/playground/preview", filled({ composition })));
  const asked = (await samples("photo")).replaceAll(/<[^>]+>|&quot;/g, "");
  expect(asked.match(/composition: *"?photo/g)).toHaveLength(2);
  expect(await samples("auto")).not.toContain("composition");
});

test("the playground says beside the input that the template does not support it", async () => {
  const page = await textOf(
    ana.upload(
      "/console/playground/send",
      new File([], ""),
      filled({ preset: "plain", composition: "photo" }),
    ),
  );
  expect(page).toMatch(/id="composition-problem"[^>]*>Is &quot;photo&quot;, which the preset plain does not/);
});

test("the page of an image shows its composition, and the form to make it again asks for another only if it is changed", async () => {
  const answer = await post(server.baseUrl, own.testKey, imageRequest({ style: { preset: "in_the_photo" } }));
  const { data } = (await answer.json()) as { data: { image_id: string } };
  // As the renderer would: nothing needs to be drawn for it.
  await server.service.store.write("test", async ({ db, t }) => {
    await db.update(t.images).set({ outputComposition: "photo" }).where(eq(t.images.id, data.image_id));
  });
  const page = `/console/images/${data.image_id}`;
  expect(await textOf(ana.get(page))).toMatch(/>Composition<\/dt><dd>Within the photo<\/dd>/);
  expect(optionsOf(await textOf(ana.get(`${page}/again`)), "composition")).toEqual([
    "Whichever suits the photo*",
    "Player cut out",
    "Within the photo",
  ]);
  const again = async (fields: Record<string, string>) => {
    const made = await ana.upload(`${page}/again`, new File([], ""), fields);
    const id = made.headers.get("location")?.split("/").pop() ?? "";
    const { db, t } = server.service.store.read;
    const [image] = await db.select().from(t.images).where(eq(t.images.id, id));
    return (image?.request as { style: object } | undefined)?.style;
  };
  expect(await again({ composition: "auto" })).toEqual({ preset: "in_the_photo" });
  expect(await again({ composition: "cutout" })).toEqual({ preset: "in_the_photo", composition: "cutout" });
  const refused = await ana.upload(`${page}/again`, new File([], ""), {
    preset: "plain",
    composition: "photo",
  });
  expect(refused.status).toBe(422);
  expect(await refused.text()).toContain("which the preset plain does not support");
});

test("a squad list has a column for it, as the example shows, and its faults are listed by row", async () => {
  const example = await textOf(ana.get("/console/lists/example.csv"));
  const heads = example.split("\r\n", 1)[0]?.split(",") ?? [];
  expect(heads.at(-1)).toBe("composition");
  const upload = async (text: string) => {
    const answer = await ana.upload("/console/lists", new File([text], "squad.csv"));
    return answer.headers.get("location") ?? "";
  };
  const page = await textOf(ana.get(await upload(example)));
  expect(optionsOf(page, "col_composition").find((option) => option.endsWith("*"))).toBe(
    "composition: auto, auto*",
  );
  const rows = ["auto", "Photo", "", "cutout"].map(
    (composition, n) => `p${n},Ana,ST,9,80,https://photos.example/p.jpg,${composition}`,
  );
  const list = await upload(`id,name,position,number,rating,photo,composition\n${rows.join("\n")}`);
  const columns = Object.fromEntries(
    ["external_id", "name", "position", "number", "skill_level", "source_image_url", "composition"].map(
      (key, at) => [`col_${key}`, `${at}`],
    ),
  );
  const check = async (preset: string) => {
    await ana.post(list, { ...columns, preset, size: "1024x1280", format: "png" });
    return textOf(ana.get(`${list}/check`));
  };
  expect(await check("in_the_photo")).toContain("All 4 rows have what a card needs");
  expect(await check("plain")).toMatch(/<div>3 Ana<\/div>.*?composition.*?which the preset plain does not/s);
});

test("the page of an image shows its other side, where it has one", async () => {
  const answer = await post(server.baseUrl, own.testKey, imageRequest({ style: { preset: "in_the_photo" } }));
  const { data } = (await answer.json()) as { data: { image_id: string } };
  const { db, t } = server.service.store.read;
  const [asked] = await db.select().from(t.images).where(eq(t.images.id, data.image_id));
  if (!asked) throw new Error("no image");
  const ended = {
    ...{
      ...asked,
      state: "completed" as const,
      completedAt: asked.createdAt,
      expiresAt: asked.createdAt + 1e9,
    },
    ...{ leaseToken: null, leaseExpiresAt: null, outputBytes: 1, outputWidth: 1, outputHeight: 1 },
    ...{ outputContentType: "image/png" },
  };
  const pageOf = async (id: string, backOutputName: string | null) => {
    const image = { ...ended, id, outputName: `${id}-front.png`, backOutputName };
    await server.service.store.write("test", async (tx) => {
      await tx.db.insert(tx.t.images).values(image);
    });
    return textOf(ana.get(`/console/images/${id}`));
  };
  const both = await pageOf("img_both", "img_both-back.png");
  expect(both).toContain('src="/cdn/img_both-front.png"');
  expect(both).toContain('src="/cdn/img_both-back.png" alt="The back of the card of Maya Okafor"');
  expect(await pageOf("img_one", null)).not.toContain("The back of the card");
});
