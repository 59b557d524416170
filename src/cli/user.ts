import { Command } from "commander";
import { addMember, addOperator, issueSetupLink } from "../app/people/manage-users.ts";
import { MEMBER_ROLES } from "../core/account.ts";
import { OperatorError } from "../core/errors.ts";
import { oneOf } from "./arguments.ts";
import { printResult } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

const STARTS_ANEW =
  "\nThis email was in use already, and who set its password is not certain: that password, its passkeys and sessions have ended.";

export function userCommands(): Command {
  const user = new Command("user").description("let people into the console");
  user
    .command("create")
    .description(
      "add a member of an account, or an operator; prints a one-time link to set a password, also for somebody who is known and lost theirs",
    )
    .requiredOption("--email <email>", "the person's email address")
    .option("--account <id>", "the account to work for")
    .option(
      "--role <role>",
      `${MEMBER_ROLES.join(", ")}: what they are in the account; without it a new member is an owner, and a known one stays what they are`,
      oneOf(MEMBER_ROLES),
    )
    .option("--operator", "an operator of this service")
    .option("--json", "print JSON")
    .action(({ email, account, role, operator, json }) =>
      withWorkspace(async (workspace) => {
        if ((account === undefined) === (operator === undefined))
          throw new OperatorError("Give either --account ID or --operator.", 2);
        const {
          user: made,
          setupUrl,
          startsAnew,
        } = operator
          ? await addOperator(workspace, { email })
          : await addMember(workspace, { accountId: account, email, role, vouched: true });
        const { oidc } = workspace.config;
        if (oidc?.only && !operator)
          return printResult(
            json,
            { user_id: made.id, setup_url: null, earlier_sign_in_ended: startsAnew },
            () => `User ${made.id} (${made.email}) signs in with ${oidc.name}.`,
          );
        // Anyone who can run this command can read the database: a new link reveals nothing more.
        const url = setupUrl ?? (await issueSetupLink(workspace, { userId: made.id })).setupUrl;
        printResult(
          json,
          { user_id: made.id, setup_url: url, earlier_sign_in_ended: startsAnew },
          () =>
            `User ${made.id} (${made.email}).${startsAnew ? STARTS_ANEW : ""}\nOpen this link once, within three days, to set a password:\n${url}`,
        );
      }),
    );
  return user;
}
