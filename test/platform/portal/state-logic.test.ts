import { expect, test } from "vitest";
import { allScopes } from "../../faces/core.ts";
import {
  account,
  fileName,
  inOrder,
  membersIn,
  revokeWarning,
  scopes,
  usernamesIn,
} from "./face.ts";

test("every scope of the platform can be chosen, in the order of the document", () => {
  expect(scopes.map(({ scope }) => scope)).toEqual(allScopes);
  expect(inOrder(["dm", "read"])).toEqual(["read", "dm"]);
});

test("usernames are read from a text, each once, with or without @", () => {
  expect(usernamesIn(" @Ada, ben,,ada\nbot ")).toEqual(["ada", "ben", "bot"]);
  expect(usernamesIn(" , ")).toEqual([]);
});

test("a group of fewer than 2 or more than 50 is refused, with how many there are", () => {
  expect(membersIn("ada ben")).toEqual(["ada", "ben"]);
  expect(() => membersIn("ada, @ada")).toThrow("these are 1");
  const many = Array.from({ length: 51 }, (_, index) => `u${index}`).join();
  expect(() => membersIn(many)).toThrow("these are 51");
});

test("an account without a name leaves it to the platform", () => {
  expect(account("@Cleo", " ")).toEqual({ username: "cleo" });
  expect(account("cleo", " Cleo K ")).toEqual({ username: "cleo", name: "Cleo K" });
});

test("before a token is revoked it is said who needs it", () => {
  const app = { bot: { username: "bot", name: "Bot" }, tokens: 2 };
  expect(revokeWarning(true, app)).toContain("standard token");
  expect(revokeWarning(false, { ...app, tokens: 1 })).toContain("the last token of @bot");
  expect(revokeWarning(false, app)).toContain("401");
});

test("the name of a file has no character that a file system refuses", () => {
  const at = new Date("2030-01-31T23:59:58.000Z");
  expect(fileName("a/b: c?", at, "db")).toBe("service-bot-a-b-c--2030-01-31T23-59-58.db");
});
