import { useState } from "preact/hooks";
import { control } from "../../api/control.ts";
import { person } from "../../live/settings.ts";
import { usePeople } from "../../live/use-people.ts";
import { Avatar, Failure } from "../../parts/bits.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/form.tsx";

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
      <NewPerson onMade={pick} />
    </Dialog>
  );
}

function NewPerson({ onMade }: { readonly onMade: (username: string) => void }) {
  const [username, setUsername] = useState("");
  const [name, setName] = useState("");
  // Said here: what is behind the dialog is out of reach.
  const [error, setError] = useState<Error>();
  const create = async () => {
    try {
      const made = await control.createPerson(name === "" ? { username } : { username, name });
      onMade(made.username);
    } catch (reason) {
      setError(reason as Error);
    }
  };
  return (
    <form
      aria-label="Somebody new"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <h3>Somebody new</h3>
      {error !== undefined && <Failure error={error} />}
      <Field label="Username" hint="1 to 30 letters, digits, dots, dashes, underscores.">
        {(ids) => (
          <input
            {...ids}
            required
            autocomplete="off"
            autocapitalize="none"
            value={username}
            onInput={({ currentTarget }) => setUsername(currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Name" hint="Without one it is the username with a capital.">
        {(ids) => (
          <input
            {...ids}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit" class="primary">
        Create, and speak as them
      </button>
    </form>
  );
}
