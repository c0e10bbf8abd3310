import { spawn } from "node:child_process";
import { text as textOf } from "node:stream/consumers";
import { expect, test } from "vitest";
import { image } from "../support/images.ts";

test("without sharp the platform works, and logs no warning", async () => {
  const source = new URL("../../../src/platform/index.ts", import.meta.url).href;
  const program = `
    import { registerHooks } from "node:module";
    registerHooks({
      resolve(name, context, next) {
        if (name === "sharp") throw new Error("sharp is not installed");
        return next(name, context);
      },
    });
    const { startPlatform } = await import(${JSON.stringify(source)});
    const platform = await startPlatform();
    const response = await fetch(platform.url + "/api/v1/uploads", {
      method: "POST",
      headers: { authorization: "Bearer " + platform.apiKey, "content-type": "application/json" },
      body: JSON.stringify({
        contentType: "image/png",
        dataBase64: "${(await image()).toString("base64")}",
      }),
    });
    const { url, thumbUrl } = await response.json();
    console.log(JSON.stringify([response.status, url === thumbUrl]));
    await platform.stop();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, errors] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  expect({ out, errors }).toEqual({ out: "[200,true]\n", errors: "" });
});
