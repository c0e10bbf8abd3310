import { useId, useRef } from "preact/hooks";
import { useKeys } from "../../keys/keys.ts";
import { reads, shown, text, unfiltered } from "./store.ts";

/** Searches the timeline. */
export function FilterBar() {
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ key: "/", label: "Find", group: "Events", run: () => field.current?.focus() }]);
  const id = useId();
  return (
    <search class="event-filter" aria-label="Filter">
      <div class="filter-part find">
        <label for={id}>Find</label>
        <input
          ref={field}
          id={id}
          type="search"
          value={text.value}
          placeholder="text, type, @person, id, path, failed"
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </div>
      <label class="filter-reads">
        <input
          type="checkbox"
          checked={reads.value === "shown"}
          onChange={(event) => {
            reads.value = event.currentTarget.checked ? "shown" : "hidden";
          }}
        />{" "}
        Show reads
      </label>
      <Count />
    </search>
  );
}

/** A component of its own, because it changes with every entry. */
function Count() {
  const [some, all] = [shown.value.length, unfiltered.value.length];
  const count = some === all ? `${all}` : `${some} of ${all}`;
  return (
    <p class="hint filter-count" role="status">
      {count === "1" ? "1 entry" : `${count} entries`}
    </p>
  );
}
