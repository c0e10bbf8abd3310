import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { call } from "../conformance/http.ts";
import { formWith, image } from "../support/images.ts";
import { type ErrorBody, runPlatform, worldOf } from "../support/platform.ts";

const CRLF = "\r\n";

function part(name: string, bytes: Buffer, headers = ""): Buffer {
  const head = `--b${CRLF}Content-Disposition: form-data; name="${name}"${headers}${CRLF}${CRLF}`;
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from(CRLF)]);
}

const end = Buffer.from(`--b--${CRLF}`);

async function post(platform: Platform, body: Buffer, type = "multipart/form-data; boundary=b") {
  const response = await fetch(`${platform.url}/api/v1/uploads`, {
    method: "POST",
    headers: { authorization: `Bearer ${platform.apiKey}`, "content-type": type },
    body: new Uint8Array(body),
  });
  return { status: response.status, body: (await response.json()) as ErrorBody };
}

test.each(["", '; filename="a.png"', `${CRLF}Content-Type: text/html`])(
  "the part is found by its name, with the headers %j",
  async (headers) => {
    const platform = await runPlatform();
    const bytes = await image();
    const answer = await post(platform, Buffer.concat([part("file", bytes, headers), end]));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ bytes: bytes.byteLength });
  },
);

const png = await image();
const file = part("file", png);
const whole = Buffer.concat([file, end]);

test.each<[string, Buffer, string?]>([
  ["no part", end],
  ["an empty body", Buffer.alloc(0)],
  ["no end", file],
  ["a part that is cut off", file.subarray(0, 90)],
  ["something else", Buffer.from("hello")],
  ["another part", Buffer.concat([part("image", png), end])],
  ["another part besides", Buffer.concat([file, part("url", png), end])],
  ["two files", Buffer.concat([file, whole])],
  ["three files", Buffer.concat([file, file, whole])],
  ["an empty file", Buffer.concat([part("file", Buffer.alloc(0)), end])],
  ["a file that is no image", Buffer.concat([part("file", Buffer.from("GIF8")), end])],
  ["no boundary", whole, "multipart/form-data"],
  ["an empty boundary", whole, "multipart/form-data; boundary="],
  ["a mixed type", whole, "multipart/mixed; boundary=b"],
  ["an image's type", whole, "image/png"],
  ["a form's type", whole, "application/x-www-form-urlencoded"],
])("%s: 400 VALIDATION", async (what, body, type) => {
  const answer = await post(await runPlatform(), body, type);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "VALIDATION" } } });
  const { message } = answer.body.error;
  if (what === "no part") expect(message).toBe("The file part `file` is missing.");
});

test("a client that disconnects midway leaves no upload", async () => {
  const platform = await runPlatform();
  const headers = {
    authorization: `Bearer ${platform.apiKey}`,
    "content-type": "multipart/form-data; boundary=b",
    "content-length": 1_000_000,
  };
  const request = httpRequest(`${platform.url}/api/v1/uploads`, { method: "POST", headers });
  request.on("error", () => {});
  request.write(part("file", png), () => request.destroy());
  await platform.waitFor("api", ({ path, status }) => path === "/uploads" && status === null);
  expect(platform.control.limits.uploadsPerDay.used).toBe(0);
  expect((await call(worldOf(platform), "POST", "/uploads", { body: formWith(png) })).status).toBe(
    200,
  );
});
