import { expect, test } from "vitest";
import { allScopes } from "../../faces/core.ts";
import { fileName, revokeWarning, scopes } from "./face.ts";

test("each of the platform's scopes can be chosen, in the document's order", () => {
  expect(scopes.map(([scope]) => scope)).toEqual(allScopes);
});

test("before a token is revoked, a warning names the bot that needs it", () => {
  const app = { bot: { username: "bot", name: "Bot" }, tokens: 2 };
  expect(revokeWarning(true, app)).toContain("printed this token");
  expect(revokeWarning(false, { ...app, tokens: 1 })).toContain("@bot's last token");
  expect(revokeWarning(false, app)).toContain("401");
});

test("a file's name has no character that a file system rejects", () => {
  const at = new Date("2030-01-31T23:59:58.000Z");
  expect(fileName("a/b: c?", at)).toBe("service-bot-a-b-c--2030-01-31T23-59-58.db");
});
