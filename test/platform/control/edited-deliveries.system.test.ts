import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { DeliveryCommand } from "../../faces/platform.ts";
import { request } from "../support/platform.ts";
import { BODIES, expectSigned, withReceiver } from "./edited.ts";

const run = promisify(execFile);

test("edited bodies arrive from their shell commands with the same bytes, and signed", async () => {
  const { platform, arrived } = await withReceiver();
  const texts = BODIES.map(([, text]) => text);
  const commands: string[] = [];
  for (const text of texts) {
    const path = "/control/v1/deliveries/curl";
    const { body } = await request<DeliveryCommand>(platform, "POST", path, {
      body: { body: text },
    });
    commands.push(body.command);
  }
  const script = commands.join("\n");
  expect(script).not.toContain(platform.webhookSecret);
  // A terminal must not interpret any part of the line as a key.
  for (const command of commands) expect(command).not.toMatch(/\p{Cc}/u);
  const child = run("sh", [], { env: { PATH: process.env.PATH ?? "" } });
  child.child.stdin?.end(script);
  expect((await child).stdout.match(/^HTTP\/1\.1 200/gm)).toHaveLength(texts.length);
  expect(arrived.map(({ body }) => body.toString())).toEqual(texts);
  for (const one of arrived) expectSigned(one, platform);
});
