import { wordsOf } from "../../../timeline/words.ts";
import type { TimelineEntry } from "../../api/shapes.ts";
import { Badge } from "../../parts/bits.tsx";
import { timeOfDay } from "../../parts/time-of-day.ts";
import { marksOf } from "./lines.ts";
import { index, severalBots } from "./store.ts";

export interface LineProps {
  readonly entry: TimelineEntry;
  /** Where it stands among those that are shown, from 0 up, and how many they are. */
  readonly place: number;
  readonly count: number;
  readonly top: number;
  readonly height: number;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly isRelated: boolean;
  readonly onClick: () => void;
}

export function idOfLine({ seq }: TimelineEntry): string {
  return `line-${seq}`;
}

/** One entry of the timeline. */
export function Line({ entry, place, count, top, height, ...is }: LineProps) {
  const state = [is.isActive && "active", is.isOpen && "open", is.isRelated && "related"];
  const bot = severalBots.value && "bot" in entry ? ` → @${entry.bot}` : "";
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names the option that is active
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the list does the same
    <div
      role="option"
      id={idOfLine(entry)}
      class={["event-line", ...state.filter(Boolean)].join(" ")}
      aria-selected={is.isActive}
      aria-posinset={place + 1}
      aria-setsize={count}
      style={{ transform: `translateY(${top}px)`, height: `${height}px` }}
      onClick={is.onClick}
    >
      <time dateTime={entry.at}>{timeOfDay(entry.at)}</time>
      <span class={`event-kind ${entry.kind}`}>{entry.kind}</span>
      <span class="event-words">
        {wordsOf(entry)}
        {bot}
      </span>
      <span class="event-marks">
        {marksOf(entry, index.value).map(({ tone, text }) => (
          <Badge key={text} tone={tone}>
            {text}
          </Badge>
        ))}
      </span>
    </div>
  );
}
