import { useEffect, useRef, useState } from "preact/hooks";
import { wordsOf } from "../../../timeline/words.ts";
import type { TimelineEntry } from "../../api/shapes.ts";

/** What comes within this time is said at once, in milliseconds: one can hear less than one can see. */
const PAUSE_MS = 1_500;

/** Says to those who hear the page what has come. */
export function Announcer({ lines }: { readonly lines: readonly TimelineEntry[] }) {
  const [text, setText] = useState("");
  const latest = useRef(lines);
  const told = useRef(lines.at(-1)?.seq ?? 0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  latest.current = lines;
  useEffect(() => {
    if ((lines.at(-1)?.seq ?? 0) <= told.current || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      const fresh = latest.current.filter(({ seq }) => seq > told.current);
      const last = fresh.at(-1);
      if (last === undefined) return;
      told.current = last.seq;
      setText(fresh.length === 1 ? wordsOf(last) : `${fresh.length} new; ${wordsOf(last)}`);
    }, PAUSE_MS);
  }, [lines]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <p role="status" class="visually-hidden">
      {text}
    </p>
  );
}
