import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Client } from "../faces/client.ts";
import { root } from "./markdown.ts";

const text = readFileSync(join(root, "docs/reference/client.md"), "utf8");

const operations = [
  "GET /dm/conversations",
  "GET /dm/conversations/:id/messages",
  "GET /events",
  "GET /feed",
  "GET /me",
  "GET /posts/:id",
  "GET /posts/:id/comments",
  "GET /search",
  "GET /users/:username",
  "POST /dm/conversations/:id/messages",
  "POST /posts",
  "POST /posts/:id/comments",
  "POST /uploads",
];

test("docs/reference/client.md has every operation, with a method that the client has", () => {
  const rows = [...text.matchAll(/^\| `([\w.]+)\([^`]*\)` \| `(\w+ \/[^`]*)` \|/gm)];
  expect(rows.map(([, , operation]) => operation).sort()).toEqual(operations);
  const client = new Client({ baseUrl: "http://platform.test", apiKey: "key" });
  for (const [, name = ""] of rows) {
    const method = name
      .split(".")
      .reduce<unknown>((at, part) => Reflect.get(Object(at), part), client);
    expect(method, name).toBeTypeOf("function");
  }
});
