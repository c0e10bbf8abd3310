import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { permanentCodes } from "../faces/dispatcher.ts";
import type { ErrorCode } from "../faces/errors.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

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

/** The decision for each code. The type forces a decision for every new code. */
const decisions: Readonly<Record<ErrorCode, "permanent" | "transient">> = {
  NODE_TOO_OLD: "transient",
  CONFIG_INVALID: "transient",
  NOT_STARTED: "transient",
  ALREADY_STARTED: "permanent",
  ADDRESS_IN_USE: "transient",
  SIGNATURE_MISSING: "transient",
  SIGNATURE_MALFORMED: "transient",
  SIGNATURE_STALE: "transient",
  SIGNATURE_MISMATCH: "transient",
  BODY_INVALID: "permanent",
  PAYLOAD_INVALID: "permanent",
  HANDLER_MISSING: "transient",
  BODY_ENCODED: "transient",
  BODY_TOO_LARGE: "transient",
  BODY_TOO_COMPLEX: "transient",
  BODY_INCOMPLETE: "transient",
  BODY_TIMEOUT: "transient",
  BODY_FRAGMENTED: "transient",
  BODIES_BUSY: "transient",
  BODY_ALREADY_PARSED: "transient",
  NOT_FOUND: "permanent",
  METHOD_NOT_ALLOWED: "transient",
  NOT_READY: "transient",
  INTERNAL: "transient",
  STORE_UNAVAILABLE: "transient",
  INBOX_FULL: "transient",
  INBOX_IN_USE: "transient",
  INBOX_TOO_NEW: "transient",
  INBOX_TOO_OLD: "transient",
  INBOX_MISSING: "transient",
  INBOX_UNUSABLE: "transient",
  INBOX_NOT_EMPTY: "transient",
  INBOX_UNFINISHED: "transient",
  INBOX_LOST: "transient",
  INBOX_MOVED: "transient",
  INBOX_DIFFERS: "transient",
  DRIVER_MISSING: "transient",
  EVENT_NOT_FOUND: "transient",
  EVENT_NOT_DEAD: "transient",
  EVENT_BODY_DROPPED: "transient",
  EVENT_ENDED: "transient",
  EVENT_LEASED: "transient",
  REASON_MISSING: "permanent",
  CURSOR_INVALID: "permanent",
  UNKNOWN_EVENT_TYPE: "permanent",
  HANDLER_TIMEOUT: "transient",
  PATTERN_TIMEOUT: "permanent",
  HANDLER_CRASHED: "transient",
  RETRY_LATER: "transient",
  GAVE_UP: "permanent",
  INVALID_OPTION: "permanent",
  LEASE_LOST: "transient",
  STEP_DUPLICATE: "permanent",
  STEP_UNCERTAIN: "permanent",
  STEP_RESULT_INVALID: "permanent",
  REPLY_IMPOSSIBLE: "permanent",
  NEXT_CALLED_TWICE: "permanent",
  STATE_CONFLICT: "transient",
  RUN_TOO_LARGE: "permanent",
  STATE_INVALID: "permanent",
  STATE_MISMATCH: "transient",
  INVALID_ID: "permanent",
  API_ERROR: "transient",
  API_UNREACHABLE: "transient",
  API_TIMEOUT: "transient",
  API_CIRCUIT_OPEN: "transient",
  API_BUDGET_SPENT: "transient",
  API_REDIRECT: "transient",
  API_INVALID_RESPONSE: "transient",
  BLOCKED_HOST: "transient",
  NOT_IMAGE: "transient",
  TOO_LARGE: "permanent",
  INVALID_IMAGE_KEY: "permanent",
  TOO_MANY_IMAGES: "permanent",
  NOT_CONFIGURED: "transient",
  VALIDATION: "permanent",
  EMPTY: "permanent",
  TOO_LONG: "permanent",
  GROUP_UNSUPPORTED: "permanent",
  AGENT_SCOPE_MISSING: "permanent",
  BLOCKED: "permanent",
  QUOTA_EXCEEDED: "transient",
};

test("each error code is either permanent or transient", () => {
  const permanent = Object.entries(decisions).filter(([, decision]) => decision === "permanent");
  expect(permanent.map(([code]) => code).sort()).toEqual([...permanentCodes].sort());
});
