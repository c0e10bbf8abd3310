import { useRef } from "preact/hooks";
import { useKeys } from "../../keys/keys.ts";
import { Search } from "../../parts/list.tsx";
import { overview, text, trouble, type, visibleThings } from "./store.ts";

export function Filters() {
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ key: "/", label: "Search", group: "Events", run: () => field.current?.focus() }]);
  const types = [...overview.value.stories.values()].map(({ event }) => event.type);
  return (
    <search class="row event-filters">
      <Search
        element={field}
        label="Search events"
        placeholder="Search by text, @username, id or path"
        text={text}
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
