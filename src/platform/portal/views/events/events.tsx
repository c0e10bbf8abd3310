import { useRef } from "preact/hooks";
import type { TimelineEntry } from "../../../types.ts";
import { useKeys } from "../../keys/keys.ts";
import { go, route } from "../../live/route.ts";
import { entries } from "../../live/stream.ts";
import { Empty } from "../../parts/bits.tsx";
import { Details } from "./details/details.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { addressedAs } from "./lines.ts";
import { reads, shown, text, unfiltered } from "./store.ts";
import { Timeline } from "./timeline.tsx";

/** Everything that happens, live, and what is open beside it. */
export function Events() {
  const { id } = route.value;
  const view = useRef<HTMLDivElement>(null);
  const byKey = useRef(false);
  const open = (entry: TimelineEntry, by: "key" | "pointer") => {
    byKey.current = by === "key";
    go("events", addressedAs(entry));
  };
  const lines = shown.value;
  return (
    <div class={id === "" ? "events" : "events with-details"} ref={view}>
      <h1>Events</h1>
      <FilterBar />
      {lines.length === 0 ? <Nothing /> : <Timeline lines={lines} open={id} onOpen={open} />}
      {id !== "" && (
        <Opened key={id} id={id} byKey={byKey.current} onClose={() => close(view.current)} />
      )}
    </div>
  );
}

interface OpenedProps {
  readonly id: string;
  /** Then the focus goes along. */
  readonly byKey: boolean;
  readonly onClose: () => void;
}

function Opened({ id, byKey, onClose }: OpenedProps) {
  useKeys([{ key: "Escape", label: "Close the details", group: "Events", run: onClose }]);
  return <Details id={id} takesFocus={byKey} onClose={onClose} />;
}

/** Closes the details; the focus goes back to where they were opened. */
function close(view: HTMLElement | null): void {
  go("events");
  view?.querySelector<HTMLElement>('[role="listbox"]')?.focus();
}

function Nothing() {
  if (unfiltered.value.length > 0) {
    return (
      <Empty title="No entries fit.">
        <button
          type="button"
          onClick={() => {
            text.value = "";
          }}
        >
          Clear the search
        </button>
      </Empty>
    );
  }
  const idle = entries.value.length;
  return (
    <Empty title="Nothing has happened yet.">
      <p>
        Press <kbd>d</kbd> to send the bot a direct message, or write to it in{" "}
        <a href="#/chat">Chat</a>.
      </p>
      {idle > 0 && (
        <button
          type="button"
          onClick={() => {
            reads.value = "shown";
          }}
        >
          Show {idle === 1 ? "1 read" : `${idle} reads`} of the bot that found nothing
        </button>
      )}
    </Empty>
  );
}
