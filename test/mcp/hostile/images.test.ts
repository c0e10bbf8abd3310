import { expect, test } from "vitest";
import { image, imageOf } from "../../platform/support/images.ts";
import { connectDirectly, failureIn } from "../call.ts";

const upload = {
  ...{
    key: "img_1",
    url: "https://images.example/1.png",
    thumbUrl: "https://images.example/1s.png",
  },
  ...{ width: 9, height: 7, bytes: 75 },
};

const MIB = 1024 * 1024;

const huge = (await imageOf(5 * MIB + 1)).toString("base64");
const larger = Buffer.alloc(5.9 * MIB).toString("base64");

type Row = readonly [name: string, args: Record<string, unknown>, code: string, why: RegExp];

const rows: readonly Row[] = [
  ["just over 5 MB", { dataBase64: huge }, "TOO_LARGE", /larger than 5 MB/],
  ["8 MB of base64", { dataBase64: larger }, "TOO_LARGE", /larger than 5 MB/],
  ["a data: URL of it", { dataBase64: `data:image/png;base64,${larger}` }, "TOO_LARGE", /5 MB/],
  [
    "no base64",
    { dataBase64: "§$%&/()" },
    "VALIDATION",
    /dataBase64 contains characters that are not/,
  ],
  ["base64 of a URL", { dataBase64: "aGk_-w" }, "VALIDATION", /dataBase64 contains characters/],
  ["half a character", { dataBase64: "aGk\ud800" }, "VALIDATION", /dataBase64 contains characters/],
  ["a data: URL of another kind", { dataBase64: "data:text/plain,hi" }, "VALIDATION", /base64/],
  ["bytes that are no image", { dataBase64: "aGVsbG8gdGhlcmU=" }, "VALIDATION", /is not a/],
  ["blank base64", { dataBase64: " \n" }, "VALIDATION", /is empty/],
  ["a page", { dataBase64: btoa("<html></html>") }, "VALIDATION", /is not a/],
  ["neither", {}, "VALIDATION", /Pass either url or dataBase64/],
  ["both", { url: "https://a.example/", dataBase64: "aGk=" }, "VALIDATION", /either url or/],
  ...[
    "/etc/passwd",
    "cat.png",
    "~/cat.png",
    "file:///etc/passwd",
    "http://images.example/a.png",
    "ftp://images.example/a.png",
    "data:image/png;base64,aGk=",
    "javascript:alert(1)",
    "https://user:secret@images.example/a.png",
    "img_1",
  ].map((url): Row => [url, { url }, "BLOCKED_HOST", /https/]),
];

test("an upload that is no image, too large or at no https address never reaches the platform", async () => {
  let requests = 0;
  const fetch = async () => {
    requests += 1;
    return Response.json(upload);
  };
  const call = connectDirectly({ baseUrl: "http://platform.test", fetch });
  for (const [name, args, code, why] of rows) {
    const failure = failureIn(await call("service_upload_image", args));
    expect(failure.code, name).toBe(code);
    expect(failure.message, name).toMatch(why);
    expect(failure.message.length, name).toBeLessThan(600);
    expect(failure.message, name).not.toContain("secret");
  }
  expect(requests).toBe(0);
  const dataBase64 = (await image()).toString("base64");
  const { result } = await call("service_upload_image", { dataBase64 });
  expect([result.structuredContent, requests]).toEqual([upload, 1]);
});
