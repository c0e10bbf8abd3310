import type { NewEvent } from "../store/event-log.ts";
import type { Target } from "../store/images.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import type { Created } from "../timeline/entries.ts";
import type { ActInput } from "./input.ts";

/** One act with everything it needs. */
export interface Act {
  readonly store: Store;
  readonly person: User;
  readonly bot: User;
  readonly input: ActInput;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What came of an act. */
export interface Outcome {
  readonly event: NewEvent;
  /** The words of what the person wrote. */
  readonly text?: string;
  readonly concerns: Created;
  /** What the person wrote, where they write. */
  readonly made?: Target;
}

/** Excerpts are cut to this many characters (code points). The document names no length. */
const EXCERPT_LENGTH = 200;

/** The beginning of a text. */
export function excerpt(text: string): string {
  // By code point: half a surrogate pair is not a character.
  return [...text.slice(0, 2 * EXCERPT_LENGTH)].slice(0, EXCERPT_LENGTH).join("");
}
