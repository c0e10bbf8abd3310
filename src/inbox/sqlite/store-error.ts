import { messageOf, ServiceBotError } from "../../errors.ts";

/** Converts an SQLite error to STORE_UNAVAILABLE. The project's own errors are not changed. */
export function asStoreError(error: unknown): ServiceBotError {
  if (error instanceof ServiceBotError) return error;
  return new ServiceBotError(
    "STORE_UNAVAILABLE",
    `Cannot write to the inbox: ${messageOf(error)}`,
    {
      cause: error,
    },
  );
}

/** Reads from the store. @throws {ServiceBotError} the error of {@link asStoreError} */
export function readStore<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStoreError(error);
  }
}
