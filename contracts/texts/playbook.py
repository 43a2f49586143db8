"""Why a playbook is refused, and what became of its steps."""

from contracts.texts.sentence import Sentence

REFUSED = Sentence(
    en="I did not start the playbook. Line {line}: {problem}.", zh="剧本没有开始执行。第 {line} 行：{problem}。"
)

NOT_YAML = Sentence(en="this is not valid YAML: {detail}", zh="这不是有效的 YAML：{detail}")
TOO_LONG = Sentence(en="a playbook may have at most {limit} bytes", zh="剧本最多 {limit} 字节")
EMPTY = Sentence(en="there is nothing in it", zh="内容为空")
TOO_DEEP = Sentence(en="it is nested too deeply", zh="嵌套层数过多")
NO_ALIASES = Sentence(en="the alias *{name} is not allowed here", zh="这里不允许使用别名 *{name}")
KEY_NOT_WORD = Sentence(en="a key must be a word", zh="键必须是一个词")
KEY_TWICE = Sentence(en="the key {name!r} occurs twice", zh="键 {name!r} 出现了两次")
BAD_TAG = Sentence(en="the tag {name!r} is not allowed here", zh="这里不允许使用标签 {name!r}")

NOT_A_MAPPING = Sentence(en="{what} must be names with values", zh="{what} 必须是“名称: 值”的形式")
NOT_A_TEXT = Sentence(en="{what} must be a text", zh="{what} 必须是文本")
NOT_A_FLAG = Sentence(en="`approve` must be true or false", zh="`approve` 必须是 true 或 false")
MISSING_KEY = Sentence(en="the key `{name}` is missing", zh="缺少键 `{name}`")
UNKNOWN_KEY = Sentence(en="unknown key {name!r}; known are {known}", zh="未知的键 {name!r}；可用的有 {known}")
NO_STEPS = Sentence(en="`steps` must be a list of at least one step", zh="`steps` 必须是至少含一个步骤的列表")
TOO_MANY_STEPS = Sentence(en="{count} steps are more than {limit}", zh="{count} 个步骤超过了上限 {limit}")
BAD_ID = Sentence(
    en="{name!r} is no step id: it takes letters, digits, - and _, at most 40",
    zh="{name!r} 不是有效的步骤 id：只能用字母、数字、- 和 _，最多 40 个字符",
)
ID_TWICE = Sentence(en="the step {name!r} is already on line {line}", zh="步骤 {name!r} 已在第 {line} 行")
NO_TOOL = Sentence(en="there is no tool {name!r}; there are {known}", zh="没有名为 {name!r} 的工具；可用的有 {known}")
NO_ARGUMENT = Sentence(
    en="{tool} takes no argument {name!r}; it takes {known}", zh="{tool} 没有参数 {name!r}；它的参数有 {known}"
)
NEEDS_ARGUMENT = Sentence(en="{tool} needs the argument {name!r}", zh="{tool} 需要参数 {name!r}")
NO_STEP = Sentence(en="there is no step {name!r}", zh="没有步骤 {name!r}")
NO_REFERENCE = Sentence(en="there is no `{name}`", zh="不存在 `{name}`")
BAD_REFERENCE = Sentence(en="cannot read the reference {{{{ {name} }}}}", zh="无法读懂引用 {{{{ {name} }}}}")
BAD_CONDITION = Sentence(en="cannot read the condition {name!r}", zh="无法读懂条件 {name!r}")
CYCLE = Sentence(en="these steps wait for each other: {circle}", zh="这些步骤互相等待：{circle}")
UNSAFE_SCRIPT = Sentence(
    en="a reference must not stand beside {place!r}, where its value could run as a command; write the value to a file"
    " with `files` and let the script read that file",
    zh="引用不能与 {place!r} 一起使用，因为它的值可能被当作命令执行；请先用 `files` 把值写入文件，再让脚本读取该文件",
)

INPUT_MISSING = Sentence(
    en="The playbook “{playbook}” needs a value for {names}. Write it as {example}.",
    zh="剧本“{playbook}”需要 {names} 的值。请写成 {example}。",
)
INPUT_UNKNOWN = Sentence(
    en="The playbook “{playbook}” has no input {names}; it takes {known}.",
    zh="剧本“{playbook}”没有输入 {names}；它接受 {known}。",
)
STEP_DONE = Sentence(en="✓ {step}: {headline}", zh="✓ {step}：{headline}")
STEP_FAILED = Sentence(en="✗ {step} failed: {reason}", zh="✗ {step} 失败：{reason}")
STEP_STOPPED = Sentence(
    en="– {step} was not done, because {blamed} did not succeed", zh="– {step} 未执行，因为 {blamed} 没有成功"
)
STEP_REFUSED = Sentence(en="✗ {step} was not done: you said no", zh="✗ {step} 未执行：您没有同意")
STEP_SKIPPED = Sentence(en="– {step} was not needed", zh="– {step} 不需要执行")
STEP_WITHOUT_ANSWER = Sentence(en="✗ {step}: the question was not answered", zh="✗ {step}：问题没有得到回答")
VALUE_MISSING = Sentence(en="there is no value for {name}", zh="{name} 没有值")
CONSENT = Sentence(
    en="The playbook asks before it goes on. Run the step “{step}” ({tool})?\n{preview}",
    zh="剧本在继续之前需要您的确认。执行步骤“{step}”（{tool}）吗？\n{preview}",
)
YES = Sentence(en="Yes", zh="是")
NO = Sentence(en="No", zh="否")
