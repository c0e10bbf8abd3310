import { stdSerializers } from "pino";
import { isShown, showError } from "./redact.ts";

const unchanged = (text: string) => text;

/**
 * The field `err` of a line: an error with its causes, and without its other fields, which may hold anything.
 * What was described before stays as it is.
 */
export function loggedError(thrown: unknown): unknown {
  if (isShown(thrown)) return thrown;
  const shown = showError(thrown, unchanged);
  if (!(thrown instanceof Error)) return shown;
  const { message, stack } = stdSerializers.err(thrown);
  return { ...shown, message, stack };
}
