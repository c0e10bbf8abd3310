import { useState } from "preact/hooks";
import type { DeliverResult } from "../../../../types.ts";
import { control, type Delivery } from "../../../api/control.ts";
import { useLive } from "../../../live/use-live.ts";
import { Failure, pretty } from "../../../parts/bits.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Action, Field } from "../../../parts/form.tsx";
import { check } from "../edited.ts";
import { Sent } from "./sent.tsx";

export interface EditProps {
  readonly what: Delivery;
  readonly bot: string;
  readonly onClose: () => void;
}

/** A delivery whose body one writes. */
export function EditDialog({ what, bot, onClose }: EditProps) {
  const { data, error } = useLive(() => bodyOf(what), { key: "body", concerns: () => false });
  const [edited, setText] = useState<string>();
  const [asked, setAsked] = useState(false);
  const [result, setResult] = useState<DeliverResult>();
  const text = edited ?? data;
  const { valid, note } = check(text ?? "");
  const send = async () => {
    if (text === undefined) return;
    if (!valid && !asked) return setAsked(true);
    setAsked(false);
    const { deliveries } = await control.deliver({ body: text }, bot);
    setResult(deliveries[0]);
  };
  return (
    <Dialog title="Edit and send" onClose={onClose} wide>
      <p>
        It is sent to @{bot} as it stands here, and signed properly, also where it is broken. This
        stands beside the schedule: a failure does not count, and there are no retries.
      </p>
      {error !== undefined && <Failure error={error} />}
      {text !== undefined && (
        <Field label="Body" hint={note}>
          {(ids) => (
            <textarea
              {...ids}
              class="mono"
              rows={16}
              spellcheck={false}
              value={text}
              aria-invalid={!valid}
              onInput={(event) => {
                setText(event.currentTarget.value);
                setAsked(false);
              }}
            />
          )}
        </Field>
      )}
      <div role="status">{asked && <p class="failure">{note} Send it broken, on purpose?</p>}</div>
      <div class="row">
        <Action run={send} tone={asked ? "danger" : "primary"} disabled={text === undefined}>
          {asked ? "Send it broken" : "Send"}
        </Action>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      <div role="status">{result !== undefined && <Sent result={result} onLeave={onClose} />}</div>
    </Dialog>
  );
}

/** What would be sent, so that people can read it. */
async function bodyOf(what: Delivery): Promise<string> {
  if ("body" in what) return pretty(what.body);
  const details = await Promise.all(what.eventIds.map((id) => control.event(id)));
  return JSON.stringify({ events: details.map(({ event }) => event) }, null, 2);
}
