import { useState } from "preact/hooks";
import { control, type Delivery } from "../../../api/control.ts";
import { sendAgain } from "../../../content/send-again.ts";
import { useKeys } from "../../../keys/keys.ts";
import { copyText, TextToCopy } from "../../../parts/copy-text.tsx";
import { Action } from "../../../parts/form.tsx";
import { attempt, say } from "../../../parts/toast.tsx";
import type { Recorded } from "../fixture.ts";
import { EditDialog } from "./edit-dialog.tsx";
import { FixtureDialog } from "./fixture-dialog.tsx";

export interface ActionsProps {
  /** What is sent again. */
  readonly what: Delivery;
  /** The username of the bot that it goes to. */
  readonly bot: string;
  /** What a test is made from; there is none for a batch. */
  readonly fixture?: Recorded;
}

type Open = { readonly dialog: "edit" | "fixture" } | { readonly curl: string };

/** What can be done with an event or a delivery. */
export function Actions({ what, bot, fixture }: ActionsProps) {
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const again = () => sendAgain(what, bot);
  const edit = () => setOpen({ dialog: "edit" });
  const test = () => setOpen({ dialog: "fixture" });
  const curl = async () => {
    const { command } = await control.curl(what, bot);
    if (await copyText(command)) say("A curl line, signed for 5 minutes, is copied.");
    else setOpen({ curl: command });
  };
  const keys = [
    { key: "s", label: "Send it again", run: () => void attempt(again) },
    { key: "e", label: "Edit and send", run: edit },
    { key: "c", label: "Copy as curl", run: () => void attempt(curl) },
    ...(fixture === undefined ? [] : [{ key: "t", label: "Make a test fixture", run: test }]),
  ];
  useKeys(keys.map((key) => ({ ...key, group: "Events" })));
  return (
    <div class="row event-actions">
      <Action run={again} shortcut="s" tone="primary">
        Send again
      </Action>
      <Action run={edit} shortcut="e">
        Edit and send
      </Action>
      <Action run={curl} shortcut="c">
        Copy as curl
      </Action>
      {fixture !== undefined && (
        <Action run={test} shortcut="t">
          Make a test fixture
        </Action>
      )}
      {open !== undefined && "curl" in open && (
        <TextToCopy title="curl, signed for 5 minutes" text={open.curl} onClose={close} />
      )}
      {open !== undefined && "dialog" in open && open.dialog === "edit" && (
        <EditDialog what={what} bot={bot} onClose={close} />
      )}
      {open !== undefined &&
        "dialog" in open &&
        fixture !== undefined &&
        open.dialog === "fixture" && <FixtureDialog recorded={fixture} onClose={close} />}
    </div>
  );
}
