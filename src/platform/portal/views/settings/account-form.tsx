import { useState } from "preact/hooks";
import { TextField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { account } from "./names.ts";

interface AccountFormProps {
  readonly what: "bot" | "person";
  readonly create: (input: { username: string; name?: string }) => Promise<unknown>;
}

/** Creates a bot or a person. */
export function AccountForm({ what, create }: AccountFormProps) {
  const [username, setUsername] = useState("");
  const [name, setName] = useState("");
  return (
    <Form
      label={`New ${what}`}
      submit={`Create ${what}`}
      tone="plain"
      run={async () => {
        await create(account(username, name));
        setUsername("");
        setName("");
      }}
    >
      <div class="fields">
        <TextField
          label="Username"
          required
          maxLength={31}
          placeholder={what === "bot" ? "helper" : "cleo"}
          value={username}
          onValue={setUsername}
        />
        <TextField
          label="Name"
          maxLength={100}
          placeholder="as the username"
          value={name}
          onValue={setName}
        />
      </div>
    </Form>
  );
}
