import { describe, expect, test } from "vitest";
import { checkContent, prepareImage, prepareImages, uploadBody } from "../../faces/client.ts";
import type { ImageKind } from "../../faces/core.ts";
import { refusal } from "./refusal.ts";
import { sampleOf } from "./samples.ts";

describe("the body of an upload", () => {
  test("is JSON for an address", async () => {
    const image = await prepareImage("HTTPS://Images.example/a.png");
    expect(image).toEqual({ url: "https://images.example/a.png" });
    expect(uploadBody({ url: "https://images.example/a.png" })).toEqual({ json: image });
  });

  test.each<[ImageKind, string]>([
    ["png", "image.png"],
    ["jpeg", "image.jpg"],
    ["webp", "image.webp"],
    ["gif", "image.gif"],
    ["avif", "image.avif"],
  ])("is a form for the bytes of %s, and can be sent twice", async (kind, name) => {
    const data = new Uint8Array(sampleOf(kind));
    const body = uploadBody({ data, kind });
    if (!("form" in body)) throw new Error("There is no form.");
    for (let time = 0; time < 2; time += 1) {
      // As it goes over the wire.
      const received = await new Response(body.form).formData();
      expect([...received.keys()]).toEqual(["file"]);
      const file = received.get("file");
      if (!(file instanceof File)) throw new Error("The part is no file.");
      expect({ name: file.name, type: file.type }).toEqual({ name, type: `image/${kind}` });
      expect(await file.bytes()).toEqual(data);
    }
  });
});

describe("prepareImages", () => {
  test("gives one for each, in their order", async () => {
    const images = await prepareImages(["upl_1", sampleOf("gif"), "https://a.example/"]);
    expect(images).toMatchObject([
      { key: "upl_1" },
      { kind: "gif" },
      { url: "https://a.example/" },
    ]);
  });

  test("refuses all for one", async () => {
    const error = await refusal(() => prepareImages(["upl_1", Buffer.from("text")]));
    expect(error.platformCode).toBe("VALIDATION");
  });
});

describe("the content", () => {
  test.each([
    {},
    { text: "" },
    { text: undefined, images: undefined },
    { images: [], imageKeys: [] },
    { text: "", images: [] },
  ])("%j is EMPTY", async (content) => {
    expect((await refusal(() => checkContent(content))).platformCode).toBe("EMPTY");
  });

  test.each([
    { images: [1, 2, 3, 4, 5] },
    { text: "hi", imageKeys: ["1", "2", "3", "4", "5"] },
    { images: [1, 2, 3], imageKeys: ["4", "5"] },
  ])("%j is TOO_MANY_IMAGES", async (content) => {
    const error = await refusal(() => checkContent(content));
    expect(error.platformCode).toBe("TOO_MANY_IMAGES");
    expect(error.message).toBe("At most 4 images can be attached (got 5).");
  });

  test.each([
    { text: "hi" },
    { text: " " },
    { images: [1] },
    { text: "", imageKeys: ["1"] },
    { text: "x".repeat(100_000), images: [1, 2], imageKeys: ["3", "4"] },
  ])("%.60j passes", (content) => {
    expect(() => checkContent(content)).not.toThrow();
  });
});
