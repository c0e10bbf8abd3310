import { Form } from "../../parts/form.tsx";

interface AccountFormProps {
  readonly kind: "bot" | "person";
  readonly create: (account: { username: string; name?: string }) => Promise<unknown>;
}

export function AccountForm({ kind, create }: AccountFormProps) {
  return (
    <Form
      label={`New ${kind}`}
      submit={`Create ${kind}`}
      fields={[
        {
          name: "username",
          label: "Username",
          required: true,
          maxLength: 31,
          placeholder: kind === "bot" ? "helper" : "cleo",
        },
        { name: "name", label: "Name", maxLength: 100, placeholder: "as the username" },
      ]}
      run={(values) => {
        const username = values.text("username");
        const name = values.text("name");
        return create(name === "" ? { username } : { username, name });
      }}
    />
  );
}
