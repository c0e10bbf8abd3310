import { useRef } from "preact/hooks";
import { useKeys } from "../../keys/keys.ts";
import { overview, text, trouble, type, visibleThings } from "./store.ts";

export function Filters() {
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ key: "/", label: "Search", group: "Events", run: () => field.current?.focus() }]);
  const types = [...overview.value.stories.values()].map(({ event }) => event.type);
  return (
    <search class="row event-filters">
      <input
        ref={field}
        type="search"
        class="grow"
        aria-label="Search events"
        value={text.value}
        placeholder="Search by text, @username, id or path"
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      <select
        aria-label="Type"
        value={type.value}
        onChange={({ currentTarget }) => {
          type.value = currentTarget.value;
        }}
      >
        <option value="">All types</option>
        {[...new Set([...types, type.value])].filter(Boolean).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <label class="check">
        <input
          type="checkbox"
          checked={trouble.value === "trouble"}
          onChange={({ currentTarget }) => {
            trouble.value = currentTarget.checked ? "trouble" : "all";
          }}
        />
        <span>Only failed</span>
      </label>
      <span role="status" class="hint">
        {count(visibleThings.value.length)}
      </span>
    </search>
  );
}

function count(rows: number): string {
  return rows === 1 ? "1 row" : `${rows} rows`;
}
