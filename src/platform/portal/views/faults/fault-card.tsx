import { useId, useState } from "preact/hooks";
import type { FaultsChange, FaultsState } from "../../../types.ts";
import { Badge } from "../../parts/bits.tsx";
import { NumberField, SelectField } from "../../parts/fields.tsx";
import { Action, Form } from "../../parts/form.tsx";
import { activeFault, heldBack } from "./active.ts";
import { changeOf, type FaultDraft, newDraft } from "./draft.ts";
import { type ModeInfo, modes, type Target, targetTitles } from "./modes.ts";

interface FaultCardProps {
  readonly target: Target;
  readonly faults: FaultsState;
  readonly set: (change: FaultsChange) => Promise<void>;
}

/** Labels of the choice of a mode: each mode goes on with the sentence. */
const subjects: Readonly<Record<Target, string>> = {
  webhook: "A delivery",
  api: "A request is",
  events: "Events",
};

/** What goes wrong with one of the three now, and what else could. */
export function FaultCard({ target, faults, set }: FaultCardProps) {
  const [draft, setDraft] = useState<FaultDraft>(() => newDraft(target));
  const heading = useId();
  const title = targetTitles[target];
  const info = modes[target].find(({ value }) => value === draft.mode);
  const change = (more: Partial<FaultDraft>) => setDraft({ ...draft, ...more });
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      <Now {...{ target, faults, set }} />
      <Form
        label={`A fault of ${title}`}
        submit="Start"
        run={() => set(changeOf(target, draft))}
        done={`${title}: set.`}
      >
        <SelectField
          label={subjects[target]}
          value={draft.mode}
          options={modes[target]}
          onValue={(mode) => change({ mode })}
        />
        {info !== undefined && <p class="hint fault-bot">{info.bot}</p>}
        {info !== undefined && <Details {...{ target, info, draft, change }} />}
      </Form>
    </section>
  );
}

function Now({ target, faults, set }: FaultCardProps) {
  const active = activeFault(target, faults);
  const held = heldBack(target, faults);
  return (
    <div class="row fault-now">
      <span class="grow" role="status">
        <Badge tone={active === undefined ? "good" : "warn"}>{active ?? "as usual"}</Badge>
        {held !== undefined && <span class="hint"> {held}</span>}
      </span>
      {/* Always there, so that the focus is not lost when the fault ends. */}
      <Action
        label={`Stop the fault of ${targetTitles[target]}`}
        small
        tone={active === undefined && held === undefined ? "quiet" : "danger"}
        run={() => set({ [target]: { mode: "none" } })}
        done={`${targetTitles[target]}: as usual again.`}
      >
        Stop
      </Action>
    </div>
  );
}

interface DetailsProps {
  readonly target: Target;
  readonly info: ModeInfo;
  readonly draft: FaultDraft;
  readonly change: (more: Partial<FaultDraft>) => void;
}

function Details({ target, info, draft, change }: DetailsProps) {
  const has = (field: "status" | "delay" | "retryAfter") => info.fields?.includes(field) ?? false;
  return (
    <div class="fault-fields">
      {has("status") && (
        <NumberField
          label="Status"
          min={300}
          max={599}
          value={draft.status}
          onValue={(status) => change({ status })}
        />
      )}
      {has("retryAfter") && (
        <NumberField
          label="Retry-After, s"
          min={0}
          max={86_400}
          placeholder="none"
          value={draft.retryAfter}
          onValue={(retryAfter) => change({ retryAfter })}
        />
      )}
      {has("delay") && (
        <NumberField
          label="Late by, s"
          required
          min={0.001}
          max={86_400}
          step="any"
          value={draft.delay}
          onValue={(delay) => change({ delay })}
        />
      )}
      <Reach {...{ target, draft, change }} />
    </div>
  );
}

/** Which ones are touched. */
function Reach({ target, draft, change }: Omit<DetailsProps, "info">) {
  return (
    <>
      <NumberField
        label="How many"
        min={1}
        max={1_000_000}
        placeholder="no end"
        value={draft.times}
        onValue={(times) => change({ times })}
      />
      <NumberField
        label="Share, %"
        min={0.1}
        max={100}
        step="any"
        placeholder="all"
        value={draft.share}
        onValue={(share) => change({ share })}
      />
      {target === "api" && (
        <SelectField
          label="Which"
          value={draft.match}
          options={matches}
          onValue={(match) => change({ match })}
        />
      )}
    </>
  );
}

const matches = [
  { value: "all", label: "all" },
  { value: "write", label: "writes only" },
] as const;
