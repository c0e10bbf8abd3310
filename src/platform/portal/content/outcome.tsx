import type { AnyEvent } from "../../types.ts";
import { addressOf } from "../live/route.ts";

/** What came of something that was done. */
export interface Outcome {
  /** What was done, as a sentence. */
  readonly did: string;
  readonly events: readonly Pick<AnyEvent, "id" | "type">[];
  /** Why there may be no event, as the end of a sentence. */
  readonly none: string;
}

/** Says what came of it, with the events that it made. It is there before, so that it is heard. */
export function OutcomeLine({ outcome }: { readonly outcome: Outcome | undefined }) {
  return (
    <p role="status" class="outcome">
      {outcome !== undefined && (
        <>
          {outcome.did} {outcome.events.length === 0 && <>No event: {outcome.none}</>}
          {outcome.events.map(({ id, type }) => (
            <span key={id}>
              {type} <a href={addressOf("events", id)}>{id}</a>{" "}
            </span>
          ))}
        </>
      )}
    </p>
  );
}
