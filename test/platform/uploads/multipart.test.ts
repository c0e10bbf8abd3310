import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { formWith, image, uploadForm } from "../support/images.ts";
import { type ErrorBody, runPlatform } from "../support/platform.ts";

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

test("a form without parts is rejected with the reason", async () => {
  const platform = await runPlatform();
  const { body } = await post(platform, end);
  expect(body.error.message).toBe("The file part `file` is missing.");
});

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

test.each([
  ["no part", end],
  ["an empty body", Buffer.alloc(0)],
  ["no end", part("file", png)],
  ["a part that is cut off", part("file", png).subarray(0, 90)],
  ["something else", Buffer.from("hello")],
  ["another part", Buffer.concat([part("image", png), end])],
  ["another part besides", Buffer.concat([part("file", png), part("url", png), end])],
  ["two files", Buffer.concat([part("file", png), part("file", png), end])],
  ["three files", Buffer.concat([...Array.from({ length: 3 }, () => part("file", png)), end])],
  ["an empty file", Buffer.concat([part("file", Buffer.alloc(0)), end])],
  ["a file that is no image", Buffer.concat([part("file", Buffer.from("GIF8")), end])],
])("%s: 400 VALIDATION", async (_, body) => {
  const platform = await runPlatform();
  const answer = await post(platform, body);
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe("VALIDATION");
});

test.each([
  "multipart/form-data",
  "multipart/form-data; boundary=",
  "multipart/mixed; boundary=b",
  "image/png",
  "application/x-www-form-urlencoded",
])("the type %s: 400 VALIDATION", async (type) => {
  const platform = await runPlatform();
  const answer = await post(platform, Buffer.concat([part("file", png), end]), type);
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe("VALIDATION");
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
  expect((await uploadForm(platform, formWith(png))).status).toBe(200);
});
