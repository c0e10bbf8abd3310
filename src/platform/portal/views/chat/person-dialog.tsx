import { control } from "../../api/control.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { AccountForm } from "../settings/account-form.tsx";

export interface PersonDialogProps {
  readonly onClose: () => void;
  /** Called with the username of the new person. */
  readonly onPicked: (username: string) => void;
}

/** Creates a person who talks to the bot. */
export function PersonDialog({ onClose, onPicked }: PersonDialogProps) {
  return (
    <Dialog title="New person" onClose={onClose}>
      <AccountForm
        what="person"
        create={async (account) => onPicked((await control.createPerson(account)).username)}
      />
    </Dialog>
  );
}
