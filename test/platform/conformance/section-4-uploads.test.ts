import { createServer } from "node:http";
import { expect } from "vitest";
import { listenUntilEnd } from "../../support/listen.ts";
import { formWith, image } from "../support/images.ts";
import { call, expectRefusal, post, write } from "./http.ts";
import { rule, ruleOfDownloads } from "./rule.ts";
import { rawBytes, tokenWith } from "./setup.ts";
import type { Upload } from "./wire.ts";
import type { Respond, World } from "./world.ts";

/** Section 4, "POST /uploads". */

const png = await image();

const internet: Respond = (response, path) => {
  if (path === "/moved.png") response.writeHead(302, { location: "/image.png" }).end(png);
  else if (path === "/page") response.setHeader("content-type", "text/html").end("<html></html>");
  else if (path === "/gone.png") response.destroy();
  else response.setHeader("content-type", "image/png").end(png);
};

const at = (path: string) => ({ url: `https://images.example${path}` });

async function expectBlocked(world: World, ...urls: readonly string[]): Promise<void> {
  for (const url of urls)
    expectRefusal(await post(world, "/uploads", { url }), 400, "BLOCKED_HOST");
}

async function expectKind(world: World, kind: "png" | "jpeg" | "webp" | "gif" | "avif") {
  const bytes = await image(kind);
  for (const body of [rawBytes(bytes, `image/${kind}`), formWith(bytes)]) {
    const { body: upload } = await call<Upload>(world, "POST", "/uploads", { body });
    expect(upload).toMatchObject({ width: 9, height: 7, bytes: bytes.byteLength });
    const served = await world.fetch(upload.url);
    expect(served.headers.get("content-type")).toBe(`image/${kind}`);
    expect(Buffer.from(await served.arrayBuffer())).toEqual(bytes);
  }
}

rule("4.uploads.scope", async (world) => {
  for (const scope of ["posts:write", "comments:write", "dm"] as const) {
    const { status } = await post(world, "/uploads", rawBytes(png), await tokenWith(world, scope));
    expect({ scope, status }).toEqual({ scope, status: 200 });
  }
});

ruleOfDownloads("4.uploads.form.url", internet, async (world) => {
  const { url, bytes } = await write<Upload>(world, "/uploads", at("/image.png"));
  expect(bytes).toBe(png.byteLength);
  expect(Buffer.from(await (await world.fetch(url)).arrayBuffer())).toEqual(png);
});

rule("4.uploads.form.base64", async (world) => {
  expect((await post(world, "/uploads", rawBytes(png))).status).toBe(200);
});

rule("4.uploads.form.contentType", async (world) => {
  for (const contentType of ["text/html", "image/svg+xml", "application/octet-stream", ""]) {
    expectRefusal(await post(world, "/uploads", rawBytes(png, contentType)), 400, "VALIDATION");
  }
  const { dataBase64 } = rawBytes(png);
  expectRefusal(await post(world, "/uploads", { dataBase64 }), 400, "VALIDATION");
});

rule("4.uploads.form.multipart", async (world) => {
  const { status, body } = await call<Upload>(world, "POST", "/uploads", { body: formWith(png) });
  expect({ status, bytes: body.bytes }).toEqual({ status: 200, bytes: png.byteLength });
});

rule("4.uploads.form.file", async (world) => {
  const named = await call(world, "POST", "/uploads", { body: formWith(png, "image") });
  expectRefusal(named, 400, "VALIDATION");
});

rule("4.uploads.form.one", async (world) => {
  const [url, bytes, contentType] = [at("/image.png"), rawBytes(png), "image/png"];
  for (const body of [{}, { ...url, ...bytes }, { ...url, contentType }, { contentType }]) {
    expectRefusal(await post(world, "/uploads", body), 400, "VALIDATION");
  }
  const form = formWith(png);
  form.append("file", new Blob([png]));
  expectRefusal(await call(world, "POST", "/uploads", { body: form }), 400, "VALIDATION");
});

rule("4.uploads.1.png", (world) => expectKind(world, "png"));

rule("4.uploads.1.jpeg", (world) => expectKind(world, "jpeg"));

rule("4.uploads.1.webp", (world) => expectKind(world, "webp"));

rule("4.uploads.1.gif", (world) => expectKind(world, "gif"));

rule("4.uploads.1.avif", (world) => expectKind(world, "avif"));

ruleOfDownloads("4.uploads.2.https", internet, async (world) => {
  await expectBlocked(world, "http://images.example/image.png", "ftp://images.example/image.png");
  expect((await post(world, "/uploads", at("/image.png"))).status).toBe(200);
});

rule("4.uploads.2.loopback", async (world) => {
  let connections = 0;
  const server = createServer().on("connection", (socket) => {
    connections += 1;
    socket.destroy();
  });
  const { port } = await listenUntilEnd(server);
  const hosts = ["127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "[::ffff:7f00:1]"];
  await expectBlocked(world, ...hosts.map((host) => `https://${host}:${port}/image.png`));
  expect(connections).toBe(0);
  // Positive control: the server does count a connection.
  await expect(fetch(`https://127.0.0.1:${port}/image.png`)).rejects.toThrow();
  expect(connections).toBe(1);
});

rule("4.uploads.2.10", (world) =>
  expectBlocked(world, "https://10.0.0.1/", "https://10.255.255.255/"),
);

rule("4.uploads.2.192.168", (world) =>
  expectBlocked(world, "https://192.168.0.1/", "https://192.168.255.1:8443/"),
);

rule("4.uploads.2.169.254", (world) =>
  expectBlocked(world, "https://169.254.169.254/latest/meta-data/", "https://169.254.0.1/"),
);

rule("4.uploads.2.similar", (world) =>
  expectBlocked(
    world,
    "https://0.0.0.0/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://100.64.0.1/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[fc00::1]/",
    "https://[fe80::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a00:1]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[2002:7f00:1::]/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://①②⑦.0.0.1/",
    "https://user@127.0.0.1/",
  ),
);

ruleOfDownloads("4.uploads.2.redirect", internet, async (world) => {
  const { status, body } = await post(world, "/uploads", at("/moved.png"));
  expect(status).toBe(400);
  expect(["BLOCKED_HOST", "NOT_IMAGE"]).toContain(body.error.code);
});

ruleOfDownloads("4.uploads.2.unreachable", internet, async (world) => {
  expectRefusal(await post(world, "/uploads", at("/gone.png")), 400, "BLOCKED_HOST");
});

ruleOfDownloads("4.uploads.2.not-image", internet, async (world) => {
  expectRefusal(await post(world, "/uploads", at("/page")), 400, "NOT_IMAGE");
});

rule("4.uploads.4", async (world) => {
  const { status, body } = await post(world, "/uploads", rawBytes(png));
  expect(status).toBe(200);
  expect(body).toEqual({
    key: expect.any(String),
    url: expect.stringMatching(/^https?:/),
    thumbUrl: expect.stringMatching(/^https?:/),
    width: 9,
    height: 7,
    bytes: png.byteLength,
  });
});
