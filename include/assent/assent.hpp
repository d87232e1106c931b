// Everything but what opts in to Boost (`describe.hpp`) and the ready-made tools (`tools.hpp`).
#pragma once

#include <assent/agent.hpp>
#include <assent/approval.hpp>
#include <assent/approvals.hpp>
#include <assent/arguments.hpp>
#include <assent/checkpointer.hpp>
#include <assent/clock.hpp>
#include <assent/gate.hpp>
#include <assent/guard.hpp>
#include <assent/interrupt_on.hpp>
#include <assent/memory.hpp>
#include <assent/middleware.hpp>
#include <assent/model.hpp>
#include <assent/parse_answer.hpp>
#include <assent/permissions.hpp>
#include <assent/result.hpp>
#include <assent/rules.hpp>
#include <assent/sqlite.hpp>
#include <assent/tool.hpp>
#include <assent/verdict.hpp>
