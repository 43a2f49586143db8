"""What the page says that plays a task's recording."""

from contracts.texts.sentence import Sentence

TITLE = Sentence(en="Recording of a task", zh="任务回放")
TASK = Sentence(en="Task", zh="任务")
COUNTED = Sentence(
    en="{lines} audit records, {steps} steps, {pictures} screenshots, from {first} to {last} (UTC)",
    zh="{lines} 条审计记录，{steps} 个步骤，{pictures} 张截图，{first} 至 {last}（UTC）",
)
NOTHING = Sentence(en="The audit log has no records of this task.", zh="审计日志中没有此任务的记录。")
SCREEN = Sentence(en="Screen", zh="屏幕")
NO_PICTURE = Sentence(en="No screenshot yet.", zh="尚无截图。")
SESSION = Sentence(en="Session", zh="会话")
LOG = Sentence(en="Operation log", zh="操作日志")
PLAY = Sentence(en="Play", zh="播放")
PAUSE = Sentence(en="Pause", zh="暂停")
BACK = Sentence(en="One back", zh="上一步")
FORWARD = Sentence(en="One on", zh="下一步")
SPEED = Sentence(en="Speed", zh="速度")
MOMENT = Sentence(en="Moment", zh="时刻")
RISK = Sentence(en="risk {risk}/100", zh="风险 {risk}/100")
RISK_PARTS = Sentence(en="Risk", zh="风险构成")
WHY = Sentence(en="Why", zh="原因")
RULES = Sentence(en="Rules", zh="规则")
EFFECTS = Sentence(en="Effects", zh="影响")
GOES_TO = Sentence(en="Goes to", zh="目标")
ARGUMENTS = Sentence(en="Arguments", zh="参数")
RESULT = Sentence(en="Result", zh="结果")
POLICY = Sentence(en="Policy", zh="策略")
SECONDS = Sentence(en="{seconds:.1f} s", zh="{seconds:.1f} 秒")
SEALED = Sentence(en="(sealed: the keyring is not here)", zh="（已加密：此处没有密钥环）")
LEFT_OUT = Sentence(en="{count} screenshots are left out here.", zh="此处省略了 {count} 张截图。")
CUT = Sentence(en="… ({count} characters more)", zh="……（另有 {count} 个字符）")
VERDICTS: dict[str, Sentence] = {
    "allow": Sentence(en="allowed", zh="已允许"),
    "ask": Sentence(en="asked", zh="需询问"),
    "deny": Sentence(en="denied", zh="已拒绝"),
}
KINDS: dict[str, Sentence] = {
    "question": Sentence(en="question", zh="提问"),
    "verdict": Sentence(en="verdict", zh="裁决"),
    "approval.asked": Sentence(en="asked the person", zh="已询问本人"),
    "approval.decided": Sentence(en="the person decided", zh="本人已决定"),
    "approval.expired": Sentence(en="nobody decided in time", zh="逾期未决定"),
    "approval.refused": Sentence(en="a decision was refused", zh="决定被拒绝"),
    "standing.added": Sentence(en="allowed for good", zh="已设为长期允许"),
    "standing.used": Sentence(en="allowed by a standing rule", zh="由长期规则允许"),
    "standing.revoked": Sentence(en="standing rule revoked", zh="长期规则已撤销"),
    "effect.begun": Sentence(en="began", zh="开始执行"),
    "effect.ended": Sentence(en="ended", zh="执行结束"),
    "effect.refused": Sentence(en="refused at the last look", zh="执行前被拒绝"),
    "model.begun": Sentence(en="model asked", zh="已询问模型"),
    "model.ended": Sentence(en="model answered", zh="模型已回答"),
    "secret.used": Sentence(en="secret used", zh="使用了机密"),
    "login": Sentence(en="login", zh="登录"),
    "login.refused": Sentence(en="login refused", zh="登录被拒绝"),
    "kill.pulled": Sentence(en="kill switch pulled", zh="已触发紧急停止"),
    "kill.acted": Sentence(en="kill switch acted", zh="紧急停止已生效"),
    "kill.lifted": Sentence(en="kill switch lifted", zh="紧急停止已解除"),
    "kill.refused": Sentence(en="lift refused", zh="解除被拒绝"),
    "policy.changed": Sentence(en="policy changed", zh="策略已更改"),
    "policy.refused": Sentence(en="broken policy refused", zh="无效策略被拒绝"),
    "factor.enrolled": Sentence(en="second factor set up", zh="已设置第二因素"),
    "factor.used": Sentence(en="second factor used", zh="已使用第二因素"),
    "factor.refused": Sentence(en="second factor refused", zh="第二因素被拒绝"),
    "budget.reserved": Sentence(en="budget reserved", zh="已预留预算"),
    "budget.refused": Sentence(en="over budget", zh="超出预算"),
    "pairing": Sentence(en="paired", zh="已配对"),
    "pairing.refused": Sentence(en="pairing refused", zh="配对被拒绝"),
    "egress": Sentence(en="network request", zh="网络请求"),
    "file_get": Sentence(en="a person took a file out", zh="取出文件"),
    "file_put": Sentence(en="a person put a file in", zh="放入文件"),
    "file_list": Sentence(en="a person listed files", zh="列出文件"),
    "artifact_list": Sentence(en="a person listed what was made", zh="列出产物"),
    "sandbox_open": Sentence(en="a person opened the sandbox", zh="打开沙箱"),
    "shell_open": Sentence(en="a person opened a shell", zh="打开终端"),
    "recovered": Sentence(en="taken up after a crash", zh="崩溃后已恢复"),
}
