import { wordsOf } from "../../../../timeline/words.ts";
import type { TimelineEntry } from "../../../../types.ts";
import { addressOf, type View } from "../../../live/route.ts";
import { entries } from "../../../live/stream.ts";
import { Code, Failure } from "../../../parts/bits.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Moment } from "./parts.tsx";

const places: Partial<Record<TimelineEntry["kind"], readonly [View, string]>> = {
  webhook: ["webhook", "Webhook"],
  app: ["state", "State"],
  fault: ["faults", "Faults"],
  state: ["state", "State"],
};

/** An entry that has no record of its own. */
export function EntryDetails({ id }: { readonly id: string }) {
  const entry = entries.value.find(({ seq }) => id === `seq_${seq}`);
  if (entry === undefined) {
    return <Failure error={new Error("This entry is not kept any more.")} />;
  }
  const [view, name] = places[entry.kind] ?? [];
  return (
    <>
      <Facts
        of={[
          ["When", <Moment at={entry.at} />],
          ["What", wordsOf(entry)],
          ["See", view && <a href={addressOf(view)}>{name}</a>],
        ]}
      />
      <Code text={JSON.stringify(entry)} label={`Entry ${id} as JSON`} />
    </>
  );
}
