import { useState } from "preact/hooks";
import { control, type Delivery } from "../../api/control.ts";
import { check } from "../../content/body.ts";
import { sendAgain } from "../../content/send-again.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Action, Field } from "../../parts/form.tsx";

export interface EditProps {
  readonly what: Delivery & { readonly eventIds: readonly string[] };
  readonly bot: string;
  readonly onClose: () => void;
}

/** A delivery whose body the developer writes. */
export function EditDialog({ what, bot, onClose }: EditProps) {
  const { data, error } = useLive(() => bodyOf(what.eventIds), {
    key: "body",
    concerns: () => false,
  });
  const [edited, setText] = useState<string>();
  const text = edited ?? data ?? "";
  const note = check(text);
  return (
    <Dialog title="Edit and send" onClose={onClose} wide>
      <p>
        Sends this body to @{bot}, with a valid signature, even if it is broken. The delivery is not
        retried, and a failure does not count.
      </p>
      {error !== undefined && <Failure error={error} />}
      {data !== undefined && (
        <Field label="Body" hint={note}>
          {(ids) => (
            <textarea
              {...ids}
              class="mono"
              rows={16}
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
      )}
      <div class="row">
        <Action run={() => sendAgain({ body: text }, bot)} tone="primary" disabled={!data}>
          Send
        </Action>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

async function bodyOf(eventIds: readonly string[]): Promise<string> {
  const details = await Promise.all(eventIds.map((id) => control.event(id)));
  return JSON.stringify({ events: details.map(({ event }) => event) }, null, 2);
}
