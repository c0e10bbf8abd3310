import { expect, test } from "vitest";
import { readDatabase, secretsOf } from "../faces/core.ts";

const secrets = (url: string, env: { readonly PGPASSWORD?: string } = {}) =>
  secretsOf(readDatabase(url), env);

test("the secrets of PostgreSQL are the passwords of its address, as they stand there and as they are", () => {
  expect(secrets("postgres://bot:a%26b@127.0.0.1/bot")).toEqual(["a%26b", "a&b"]);
  expect(secrets("postgres://bot@127.0.0.1/bot?password=a%26b")).toEqual(["a&b"]);
  expect(secrets("postgres://bot@127.0.0.1/bot")).toEqual([]);
});

test("so is the one that the driver takes from the environment", () => {
  expect(secrets("postgres://bot@127.0.0.1/bot", { PGPASSWORD: "hunter2" })).toEqual(["hunter2"]);
  expect(secrets("postgres://bot:other@127.0.0.1/bot", { PGPASSWORD: "hunter2" })).toEqual([
    ...["other", "hunter2"],
  ]);
  expect(secrets("postgres://bot@127.0.0.1/bot", { PGPASSWORD: "" })).toEqual([]);
});

test("a file has none", () => {
  expect(secrets("file:bot.db", { PGPASSWORD: "hunter2" })).toEqual([]);
});
