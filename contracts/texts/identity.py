"""What is said about identities and their vault at the terminal."""

from contracts.texts.sentence import Sentence

STATES: dict[str, Sentence] = {
    "none": Sentence(
        en="there is no vault yet; `asos identity unlock` makes one{detail}",
        zh="还没有保险库；运行 `asos identity unlock` 创建{detail}",
    ),
    "locked": Sentence(en="locked: {detail}", zh="已锁定：{detail}"),
    "unlocked": Sentence(en="unlocked, in {detail}", zh="已解锁，位于 {detail}"),
    "damaged": Sentence(en="damaged: {detail}", zh="已损坏：{detail}"),
    "unreachable": Sentence(en="unreachable: {detail}", zh="无法访问：{detail}"),
}
VAULT_LINE = Sentence(en="Vault: {state}", zh="保险库：{state}")

ASK_PASSPHRASE = Sentence(en="Passphrase of the vault", zh="保险库口令")
ASK_NEW = Sentence(en="New passphrase", zh="新口令")
ASK_AGAIN = Sentence(en="Once more", zh="再输入一次")
ASK_BACKUP = Sentence(en="Passphrase of the backup", zh="备份口令")
ASK_SECRET = Sentence(en="{kind} of {profile}", zh="{profile} 的 {kind}")
ASK_REMOVE = Sentence(en="Remove {profile} with all of its secrets?", zh="删除 {profile} 及其所有机密？")
NOT_THE_SAME = Sentence(en="The two are not the same; nothing was changed.", zh="两次输入不一致；未做任何更改。")
NOTHING_GIVEN = Sentence(
    en="Nothing came in: type it at the prompt, or pipe it in.", zh="没有收到内容：请在提示处输入，或通过管道传入。"
)

MADE = Sentence(
    en="A new vault is in {place}. Without its passphrase or key nobody can open it, we neither: make a backup with "
    "`asos identity export`.",
    zh="新的保险库位于 {place}。没有口令或密钥，任何人（包括我们）都无法打开：请用 `asos identity export` 备份。",
)
UNLOCKED = Sentence(
    en="Unlocked until `asos identity lock` or a restart.", zh="已解锁，直到 `asos identity lock` 或重启。"
)
UNLOCKED_BY = Sentence(en="Open: its key comes from {kind}.", zh="已打开：密钥来自 {kind}。")
RAISED = Sentence(en="Its passphrase is now dearer to guess than before.", zh="口令的破解成本已提高。")
LOCKED = Sentence(en="Locked. Whoever needs a secret waits.", zh="已锁定。需要机密的任务会等待。")
WAS_LOCKED = Sentence(en="It was locked already.", zh="原本已锁定。")
NO_LOCK = Sentence(
    en="Its key comes from {kind}, and is there as long as that gives it: take it away there.",
    zh="密钥来自 {kind}，只要它提供密钥，保险库就是打开的：请在那里收回。",
)
ROTATED = Sentence(
    en="{count} secrets are sealed with a new key; the old one opens nothing any more.",
    zh="{count} 个机密已用新密钥加密；旧密钥已失效。",
)
NEW_PASSPHRASE = Sentence(en="The new passphrase opens it from now on.", zh="从现在起使用新口令。")
ONLY_PASSPHRASE = Sentence(
    en="The vault opens by {kind}, not by a passphrase.", zh="保险库通过 {kind} 打开，不使用口令。"
)
EXPORTED = Sentence(
    en="{count} secrets are in {file}, sealed with its passphrase.", zh="{count} 个机密已加密保存到 {file}。"
)
IMPORTED = Sentence(
    en="{count} secrets were in the backup; {unchanged} were here already.",
    zh="备份中有 {count} 个机密；其中 {unchanged} 个已存在。",
)
PUT_ASIDE = Sentence(en="The former vault lies in {folder} now.", zh="原保险库已移至 {folder}。")
NOT_ASIDE = Sentence(
    en="--anew puts a file aside; for a vault on a server name a new path with ASOS_VAULT_PATH.",
    zh="--anew 只能移开文件；服务器上的保险库请用 ASOS_VAULT_PATH 指定新路径。",
)
SOUND = Sentence(
    en="{count} secrets open, and all are as new as they should be.", zh="{count} 个机密均可打开，且均为最新。"
)
NONE_YET = Sentence(en="No profiles yet: asos identity add NAME", zh="还没有身份：asos identity add 名称")
ADDED = Sentence(en="Profile {profile} is there.", zh="已添加身份 {profile}。")
STORED = Sentence(
    en="{kind} {name} of {profile}: version {version} is stored.",
    zh="{profile} 的 {kind} {name}：已保存版本 {version}。",
)
REMOVED = Sentence(en="{count} records of {profile} are gone.", zh="已删除 {profile} 的 {count} 条记录。")
NO_SECRET = Sentence(en="{profile} has no {kind} {name}.", zh="{profile} 没有 {kind} {name}。")
BAD_INPUT = Sentence(en="{name}: {problem}", zh="{name}：{problem}")
KEPT = Sentence(en="Nothing was removed.", zh="未删除任何内容。")

COLUMNS: dict[str, Sentence] = {
    "profile": Sentence(en="profile", zh="身份"),
    "account": Sentence(en="account", zh="账号"),
    "sites": Sentence(en="sites", zh="站点"),
    "secrets": Sentence(en="secrets", zh="机密"),
}
