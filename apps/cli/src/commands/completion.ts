import type { Command } from "commander";
import { print, withClient, withExamples } from "../command.js";
import { UserError } from "../errors.js";
import type { Terminal } from "../terminal.js";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** Each script asks `sless complete` with the words so far; what can be said next is known here alone. */
const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_sless() {
  local IFS=$'\\n'
  COMPREPLY=($(sless complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default
}
complete -F _sless sless`,
  zsh: `#compdef sless
_sless() {
  local -a words_found
  words_found=(\${(f)"$(sless complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#words_found} )); then compadd -a words_found; else _files; fi
}
compdef _sless sless`,
  fish: `complete -c sless -f -a '(sless complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
};

/** What an argument called so is completed with, from the platform. */
const NAMES_FUNCTION = /^function/;

const functionNames = (terminal: Terminal): Promise<string[]> =>
  withClient(terminal, {}, async ({ functions }) => {
    const { items } = await functions.list({ limit: 200, signal: AbortSignal.timeout(2000) });
    return items.map(({ name }) => name);
  });

/** The words that can stand where the last of `words` is being typed. */
const candidates = async (program: Command, words: readonly string[], terminal: Terminal): Promise<string[]> => {
  const command = program.commands.find((one) => one.name() === words[0] || one.aliases().includes(words[0] ?? ""));
  if (words.length <= 1 || command === undefined) return program.commands.map((one) => one.name());
  const current = words.at(-1) ?? "";
  if (current.startsWith("-")) return command.options.flatMap(({ long }) => (long ? [long] : []));
  const [first] = command.registeredArguments;
  return first !== undefined && NAMES_FUNCTION.test(first.name()) ? functionNames(terminal) : [];
};

export const addCompletion = (program: Command, terminal: Terminal): void => {
  const command = program
    .command("completion <shell>")
    .description(`print a completion script for ${SHELLS.join(", ")}`);
  withExamples(command, [
    "source <(sless completion bash)",
    "sless completion fish > ~/.config/fish/completions/sless.fish",
  ]);
  command.action((name: string) => {
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined)
      throw new UserError(`There is no completion for ${name}. There is one for ${SHELLS.join(", ")}.`, "usage");
    print(terminal, SCRIPTS[shell]);
  });
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: string[]) => {
      const found = await candidates(program, words, terminal);
      print(terminal, found.filter((word) => word.startsWith(words.at(-1) ?? "")).join("\n"));
    });
};
