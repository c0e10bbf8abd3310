import { codeOf, hasCode, messageOf, ServiceBotError } from "../../errors.ts";

/** What the server says has a code of five characters, and the connection goes on after it. */
export function isOfTheServer(error: unknown): boolean {
  if (error instanceof ServiceBotError) return true;
  const code = codeOf(error);
  // 57P01 to 57P03: the server stops or starts, and takes the connection with it. Class 08: a pooler has lost its own.
  return /^[0-9A-Z]{5}$/.test(code) && !/^(57P|08)/.test(code);
}

/**
 * Everything that the driver throws becomes STORE_UNAVAILABLE; our own errors stay what they are. The
 * error itself is left out, for the server quotes in it what was to be stored.
 */
export function asStoreError(error: unknown): ServiceBotError {
  if (error instanceof ServiceBotError) return error;
  const code = codeOf(error);
  const why = messageOf(error) || code;
  const full = hasCode(error, "53100") ? " Free some space on the database's disk." : "";
  return new ServiceBotError(
    "STORE_UNAVAILABLE",
    `The inbox in PostgreSQL cannot be used: ${why}${code === "" || why === code ? "" : ` (${code})`}.${full}`,
  );
}
