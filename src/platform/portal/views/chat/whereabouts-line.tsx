import { addressOf } from "../../live/route.ts";
import { entries } from "../../live/stream.ts";
import { whereaboutsOf } from "./whereabouts.ts";

export interface WhereaboutsLineProps {
  readonly conversationId: string;
  readonly from: string;
  /** False while there is nothing to wait for. */
  readonly shown: boolean;
}

/** While there is no answer: what became of the event of the last message. */
export function WhereaboutsLine({ shown, ...of }: WhereaboutsLineProps) {
  const found = shown ? whereaboutsOf(entries.value, of) : undefined;
  return (
    <p role="status" class="whereabouts">
      {found !== undefined && (
        <a class={`badge ${found.tone}`} href={addressOf("events", found.eventId)}>
          {found.text}
        </a>
      )}
    </p>
  );
}
