import { useState } from "preact/hooks";
import type { WebhookChange, WebhookView } from "../../../types.ts";
import { Badge } from "../../parts/bits.tsx";
import { Check, Checks, TextField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { eventTypes } from "./event-types.ts";
import { draftOf, isSameDraft, type WebhookDraft } from "./health.ts";

interface SettingsProps {
  readonly webhook: WebhookView;
  readonly save: (change: WebhookChange) => Promise<void>;
}

/** Address, types, on or off. What somebody else saves meanwhile is shown, but for what is being typed here. */
export function Settings({ webhook, save }: SettingsProps) {
  const saved = draftOf(webhook);
  const [typed, setTyped] = useState<WebhookDraft>();
  // Who types an address for the first time wants it on.
  const draft = typed ?? (webhook.url === null ? { ...saved, enabled: true } : saved);
  const changed = typed !== undefined && !isSameDraft(typed, saved);
  const change = (more: Partial<WebhookDraft>) => setTyped({ ...draft, ...more });
  const submit = async () => {
    const { url, types, enabled } = draft;
    await save({ ...(url === "" ? {} : { url }), types, enabled });
    setTyped(undefined);
  };
  return (
    <section class="card" aria-labelledby="webhook-settings">
      <h2 id="webhook-settings">Settings</h2>
      <Form
        label="Settings of the webhook"
        submit="Save"
        run={submit}
        done="Saved; the failure count is 0."
        more={
          // Always there, so that the focus is not lost when it is pressed.
          <>
            <button type="button" class="quiet" onClick={() => setTyped(undefined)}>
              Discard changes
            </button>
            {changed && <Badge tone="warn">not saved yet</Badge>}
          </>
        }
      >
        <TextField
          label="Address"
          required
          placeholder="http://127.0.0.1:3000/webhook"
          hint="https, or http on this machine alone: 127.0.0.1, localhost or [::1]."
          value={draft.url}
          onValue={(url) => change({ url })}
        />
        <Types chosen={draft.types} onChange={(types) => change({ types })} />
        <div class="field">
          <Check checked={draft.enabled} onChecked={(enabled) => change({ enabled })}>
            Deliveries are on
          </Check>
        </div>
        <p class="hint webhook-save">
          Saving resets the failure count and tries at once what is pending. Switching off drops
          what is pending: it stays in the log.
        </p>
      </Form>
    </section>
  );
}

interface TypesProps {
  readonly chosen: readonly string[];
  readonly onChange: (types: readonly string[]) => void;
}

/** The known types, and those of the future that are chosen. */
function optionsWith(chosen: readonly string[]) {
  const known = eventTypes.map(({ type, when }) => ({ value: type as string, hint: when }));
  const newer = chosen.filter((type) => known.every(({ value }) => value !== type));
  return [...known, ...newer.map((value) => ({ value, hint: "newer than this platform" }))];
}

function Types({ chosen, onChange }: TypesProps) {
  const options = optionsWith(chosen);
  return (
    <fieldset>
      <legend>
        Event types: {chosen.length === 0 ? "all types" : `${chosen.length} of ${options.length}`}
      </legend>
      <p class="hint">
        None chosen means all types, also those that the platform may add some day. What is not
        chosen is in the log alone.
      </p>
      <div class="webhook-types">
        <Checks options={options} chosen={chosen} onChange={onChange} />
      </div>
    </fieldset>
  );
}
