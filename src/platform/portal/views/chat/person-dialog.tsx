import { control } from "../../api/control.ts";
import { person } from "../../live/settings.ts";
import { usePeople } from "../../live/use-people.ts";
import { Avatar, Failure } from "../../parts/bits.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { AccountForm } from "../state/account-form.tsx";

export interface PersonDialogProps {
  readonly onClose: () => void;
  /** After somebody was chosen, by username. */
  readonly onPicked: (username: string) => void;
}

/** Who speaks: somebody who is there, or somebody new. */
export function PersonDialog({ onClose, onPicked }: PersonDialogProps) {
  const { people, error, reload } = usePeople();
  const pick = (username: string) => {
    person.value = username;
    onPicked(username);
  };
  return (
    <Dialog title="Who speaks?" onClose={onClose}>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <ul class="people" aria-label="People">
        {people.map(({ username, name }) => (
          <li key={username}>
            <button
              type="button"
              aria-pressed={username === person.value}
              onClick={() => pick(username)}
            >
              <Avatar username={username} /> {name} <span class="hint">@{username}</span>
            </button>
          </li>
        ))}
      </ul>
      <h3>Somebody new</h3>
      <AccountForm
        what="person"
        label="Somebody new"
        submit="Create, and speak as them"
        hints
        create={async (account) => pick((await control.createPerson(account)).username)}
      />
    </Dialog>
  );
}
