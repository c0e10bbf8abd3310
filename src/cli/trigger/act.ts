import { nearestName } from "../../core/names.ts";
import { eventTypes } from "../../events/parse.ts";
import { type ActInput, MAX_COUNT, OWN_TYPE } from "../../platform/acts/input.ts";
import { MAX_IMAGES } from "../../platform/content.ts";
import { type Arguments, textFlag, UsageError, wholeNumber } from "../usage.ts";

/** Flags that say what happens. */
export const actFlags = {
  from: { type: "string" },
  to: { type: "string" },
  text: { type: "string" },
  image: { type: "string" },
  conversation: { type: "string" },
  post: { type: "string" },
  comment: { type: "string" },
  count: { type: "string" },
  payload: { type: "string" },
} as const;

/** What somebody can do by name: an event of the platform document's section 6, or write a post. */
const known: readonly string[] = [...eventTypes, "post"];

/**
 * Reads what is to happen. The platform checks the rest: it knows which type takes what.
 *
 * @throws {UsageError}
 */
export function readAct(given: Arguments): ActInput {
  const payload = payloadOf(given);
  return {
    type: typeOf(given.words[0] ?? "", payload !== undefined),
    from: textFlag(given, "from") ?? "ada",
    to: textFlag(given, "to"),
    text: textFlag(given, "text"),
    images: wholeNumber(given, "image", { min: 0, max: MAX_IMAGES }),
    conversationId: textFlag(given, "conversation"),
    postId: textFlag(given, "post"),
    commentId: textFlag(given, "comment"),
    count: wholeNumber(given, "count", { min: 1, max: MAX_COUNT }),
    payload,
  };
}

/** A type is not known because it is new, or because it is misspelt; the second is the likelier by far. */
function typeOf(type: string, certain: boolean): string {
  if (known.includes(type)) return type;
  const list = `${known.join(", ")}, or a type of your own such as poll.closed`;
  if (!OWN_TYPE.test(type)) throw new UsageError(`TYPE must be one of ${list} (got "${type}").`);
  // A part of a name, such as "dm", counts as well.
  const near = certain
    ? undefined
    : (known.find((name) => name.split(".").includes(type)) ?? nearestName(type, known));
  if (near === undefined) return type;
  throw new UsageError(
    `"${type}" is no type, did you mean ${near}? If it is one of your own, say what is in it: --payload '{}'`,
  );
}

function payloadOf(given: Arguments): ActInput["payload"] {
  const text = textFlag(given, "payload");
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Told below, like what is JSON and no object.
  }
  throw new UsageError(`--payload takes a JSON object, such as '{"pollId":"x"}'.`);
}
