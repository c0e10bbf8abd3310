import { statusWords } from "../../../../timeline/words.ts";
import type { DeliverResult } from "../../../../types.ts";
import { addressOf } from "../../../live/route.ts";
import { Badge, Code } from "../../../parts/bits.tsx";
import { useDelivery } from "../details/records.ts";
import { Why } from "../details/why.tsx";
import { markOfDelivery } from "../lines.ts";

export interface SentProps {
  readonly result: DeliverResult;
  /** Called when one goes on to the delivery itself. */
  readonly onLeave: () => void;
}

/** What came of a delivery that one asked for. */
export function Sent({ result, onLeave }: SentProps) {
  const { id, status, ms } = result;
  const { tone, text } = markOfDelivery(result);
  const { data } = useDelivery(id);
  const body = data?.response?.body ?? "";
  return (
    <div class="sent">
      <h3>Result</h3>
      <p>
        <Badge tone={tone}>{text}</Badge> <span class="mono">{statusWords(status)}</span> {ms} ms,{" "}
        <a href={addressOf("events", id)} onClick={onLeave}>
          {id}
        </a>
      </p>
      <Why {...result} body={body} />
      {body !== "" && <Code text={body} label={`What the bot answered to ${id}`} />}
    </div>
  );
}
