import { useId, useRef } from "preact/hooks";
import { useKeys } from "../../keys/keys.ts";
import { isNarrow, kinds, peopleOf, typesOf } from "./filter.ts";
import { clearFilter, filter, index, narrow, shown, worthALine } from "./store.ts";

const outcomeNames = [
  ["delivered", "delivered, answered"],
  ["failed", "failed"],
  ["waiting", "waiting, never delivered"],
  ["fault", "touched by a fault"],
] as const;

/** What is looked for in the timeline. */
export function FilterBar() {
  const { type, person, outcome, kind, text, reads } = filter.value;
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
          value={text}
          placeholder="text, id, path"
          onInput={(event) => narrow({ text: event.currentTarget.value })}
        />
      </div>
      <Choice label="Type" value={type} choices={same(typesOf(index.value, type))} name="type" />
      <Choice
        label="Person"
        value={person}
        choices={peopleOf(index.value, person).map((name) => [name, `@${name}`] as const)}
        name="person"
      />
      <Choice label="Outcome" value={outcome} choices={outcomeNames} name="outcome" />
      <Choice label="Kind" value={kind} choices={same(kinds)} name="kind" />
      <label class="filter-reads">
        <input
          type="checkbox"
          checked={reads}
          onChange={(event) => narrow({ reads: event.currentTarget.checked })}
        />{" "}
        Show reads
      </label>
      {isNarrow(filter.value) && (
        <button type="button" onClick={clear}>
          Clear the filters
        </button>
      )}
      <Count />
    </search>
  );

  function clear() {
    clearFilter();
    field.current?.focus();
  }
}

function same(values: readonly string[]): readonly (readonly [string, string])[] {
  return values.map((value) => [value, value]);
}

/** Alone, for it changes with everything that happens. */
function Count() {
  const [some, all] = [shown.value.length, worthALine.value.length];
  const text = some === all ? `${all}` : `${some} of ${all}`;
  return <p class="hint filter-count">{text === "1" ? "1 entry" : `${text} entries`}</p>;
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, name: string])[];
  readonly name: "type" | "person" | "outcome" | "kind";
}

function Choice({ label, value, choices, name }: ChoiceProps) {
  const id = useId();
  return (
    <div class="filter-part">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        class={value === "" ? "" : "chosen"}
        onChange={(event) => narrow({ [name]: event.currentTarget.value })}
      >
        <option value="">all</option>
        {choices.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
