<?php

declare(strict_types=1);

namespace Cardpress;

/** Nothing usable came back, also when the call was sent again. */
final class NoAnswerException extends CardpressException
{
}
