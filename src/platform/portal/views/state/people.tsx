import type { Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { person } from "../../live/settings.ts";
import { Avatar, Badge, Empty } from "../../parts/bits.tsx";
import { AccountForm } from "./account-form.tsx";

interface PeopleProps {
  readonly people: readonly Profile[];
  readonly reload: () => Promise<void>;
}

/** Everybody but the bots. */
export function People({ people, reload }: PeopleProps) {
  return (
    <section class="card" aria-labelledby="state-people">
      <h2 id="state-people">People ({people.length})</h2>
      {people.length === 0 ? (
        <Empty title="Nobody yet">Make somebody below, or write a message in Chat.</Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled, so the keyboard has to reach it
        <section class="state-scroll" tabIndex={0} aria-label="All people">
          <ul class="list">
            {people.map(({ username, name }) => (
              <li key={username}>
                <Avatar username={username} />
                <span class="grow">
                  <strong>{name}</strong> @{username}
                </span>
                {username === person.value && <Badge tone="good">you</Badge>}
              </li>
            ))}
          </ul>
        </section>
      )}
      <h3>New person</h3>
      <AccountForm
        what="person"
        done="They are there; choose them above to speak as them."
        create={async (account) => {
          await control.createPerson(account);
          await reload();
        }}
      />
    </section>
  );
}
