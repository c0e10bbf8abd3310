import { useState } from "preact/hooks";
import type { WebhookChange, WebhookView } from "../../../types.ts";
import { Check, Checks, TextField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { eventTypes } from "./event-types.ts";
import { draftOf, isSameDraft, type WebhookDraft } from "./health.ts";

interface WebhookFormProps {
  readonly webhook: WebhookView;
  readonly save: (change: WebhookChange) => Promise<void>;
}

/** Address, types, on or off. Shows what is saved elsewhere, unless something is typed here. */
export function WebhookForm({ webhook, save }: WebhookFormProps) {
  const saved = draftOf(webhook);
  const [typed, setTyped] = useState<WebhookDraft>();
  // A first address is to be used.
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
      <h2 id="webhook-settings">Endpoint</h2>
      <Form
        label="Endpoint of the webhook"
        submit="Save"
        run={submit}
        done="Saved. The failure count is 0."
        more={
          changed && (
            <button type="button" class="quiet" onClick={() => setTyped(undefined)}>
              Discard changes
            </button>
          )
        }
      >
        <TextField
          label="Address"
          required
          placeholder="http://127.0.0.1:3000/webhook"
          hint="https, or http on this machine."
          value={draft.url}
          onValue={(url) => change({ url })}
        />
        <fieldset>
          <legend>Event types: {draft.types.length === 0 ? "all" : draft.types.length}</legend>
          <p class="hint">Without a choice it gets every type, also new ones.</p>
          <Checks
            options={optionsWith(draft.types)}
            chosen={draft.types}
            onChange={(types) => change({ types })}
          />
        </fieldset>
        <Check checked={draft.enabled} onChecked={(enabled) => change({ enabled })}>
          Enabled
        </Check>
      </Form>
    </section>
  );
}

/** The known types, and chosen ones that this page does not know. */
function optionsWith(chosen: readonly string[]) {
  const known = Object.entries(eventTypes).map(([value, hint]) => ({ value, hint }));
  const newer = chosen.filter((type) => !(type in eventTypes));
  return [...known, ...newer.map((value) => ({ value, hint: "newer than this platform" }))];
}
