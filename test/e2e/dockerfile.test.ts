import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../create/harness.ts";
import { parseDockerfile } from "./container/instructions.ts";

const dockerfile = readFileSync(join(root, "templates/starter/Dockerfile"), "utf8");
const instructions = parseDockerfile(dockerfile);
const all = (keyword: string) => instructions.filter((one) => one.keyword === keyword);

test("the base images of the starter's Dockerfile have a version", () => {
  const images = all("FROM").map(({ text }) => text.replace(/ AS \w+$/, ""));
  expect(images.length).toBeGreaterThan(0);
  for (const image of images) expect(image).toMatch(/^\w+:\d[\w.-]*(?:@sha256:[0-9a-f]{64})?$/);
});

test("its folders are absolute, its port is a number, and its user is not root", () => {
  for (const { text } of all("WORKDIR")) expect(text).toMatch(/^\//);
  expect(all("EXPOSE").map(({ text }) => text)).toEqual(["3000"]);
  expect(all("USER").map(({ text }) => text)).toEqual(["node"]);
  expect(dockerfile).not.toMatch(/\bsudo\b/);
});

test("Docker supports the flags of its health check", () => {
  const [{ flags = {} } = {}, ...more] = all("HEALTHCHECK");
  expect(more).toEqual([]);
  for (const [name, duration] of Object.entries(flags)) {
    expect(["interval", "timeout", "start-period", "start-interval"]).toContain(name);
    expect(duration).toMatch(/^\d+s$/);
  }
});
