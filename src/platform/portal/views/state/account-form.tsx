import { useState } from "preact/hooks";
import { TextField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { account } from "./names.ts";

interface AccountFormProps {
  readonly what: "bot" | "person";
  /** What it is for, and what its button says. Default: that it makes one. */
  readonly label?: string;
  readonly submit?: string;
  /** What goes into its fields is said below them. */
  readonly hints?: boolean;
  readonly create: (input: { username: string; name?: string }) => Promise<unknown>;
  readonly done?: string;
}

/** Makes a bot or a person. */
export function AccountForm({ what, create, done, hints = false, ...props }: AccountFormProps) {
  const { label = `New ${what}`, submit = `Make ${what}` } = props;
  const [username, setUsername] = useState("");
  const [name, setName] = useState("");
  return (
    <Form
      label={label}
      submit={submit}
      done={done}
      run={async () => {
        await create(account(username, name));
        setUsername("");
        setName("");
      }}
    >
      <div class="state-fields">
        <TextField
          label="Username"
          hint={hints ? "1 to 30 letters, digits, dots, dashes, underscores." : undefined}
          required
          maxLength={31}
          placeholder={what === "bot" ? "helper" : "cleo"}
          value={username}
          onValue={setUsername}
        />
        <TextField
          label="Name"
          hint={hints ? "Without one it is the username with a capital." : undefined}
          maxLength={100}
          placeholder="as the username"
          value={name}
          onValue={setName}
        />
      </div>
    </Form>
  );
}
