import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { remedies } from "../faces/cli.ts";
import { permanentCodes } from "../faces/dispatcher.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Codes of errors that a later run may not have. A new code needs a decision: it is here, or in `permanentCodes`. */
const TRANSIENT = `
  NODE_TOO_OLD CONFIG_INVALID NOT_STARTED ADDRESS_IN_USE SIGNATURE_MISSING SIGNATURE_MALFORMED SIGNATURE_STALE
  SIGNATURE_MISMATCH HANDLER_MISSING BODY_ENCODED BODY_TOO_LARGE BODY_TOO_COMPLEX BODY_INCOMPLETE BODY_TIMEOUT
  BODY_FRAGMENTED BODIES_BUSY BODY_ALREADY_PARSED METHOD_NOT_ALLOWED NOT_READY INTERNAL STORE_UNAVAILABLE
  INBOX_FULL INBOX_IN_USE INBOX_TOO_NEW INBOX_TOO_OLD INBOX_MISSING INBOX_UNUSABLE INBOX_NOT_EMPTY
  INBOX_UNFINISHED INBOX_LOST INBOX_MOVED INBOX_DIFFERS DRIVER_MISSING EVENT_NOT_FOUND EVENT_NOT_DEAD
  EVENT_BODY_DROPPED EVENT_ENDED EVENT_LEASED HANDLER_TIMEOUT HANDLER_CRASHED RETRY_LATER LEASE_LOST
  STATE_CONFLICT STATE_MISMATCH API_ERROR API_UNREACHABLE API_TIMEOUT API_CIRCUIT_OPEN API_BUDGET_SPENT
  API_REDIRECT API_INVALID_RESPONSE BLOCKED_HOST NOT_IMAGE NOT_CONFIGURED QUOTA_EXCEEDED
`;

function codesIn(page: string, heading: string): string[] {
  const [, section = ""] = read(page).split(`\n${heading}\n`);
  const [table = ""] = section.split(/\n#/);
  const rows = [...table.matchAll(/^\| (.*?) \|/gm)];
  return rows.flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => code),
  );
}

test("docs/reference/handlers.md lists the permanent codes, and no other", () => {
  const listed = codesIn("docs/reference/handlers.md", "### Permanent errors");
  expect(listed.sort()).toEqual([...permanentCodes].sort());
});

test("each error code is either permanent or transient", () => {
  const decided = [...permanentCodes, ...(TRANSIENT.match(/\w+/g) ?? [])];
  expect(decided.sort()).toEqual(Object.keys(remedies).sort());
});
